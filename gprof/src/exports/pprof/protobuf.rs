//! Messages in the encoding of protocol buffers.

/// A message that is being written.
#[derive(Default)]
pub(super) struct Message {
    bytes: Vec<u8>,
}

impl Message {
    /// The bytes of the message.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds a number. A number of 0 is the default, which messages leave out.
    pub(super) fn number(&mut self, field: u32, number: u64) {
        if number != 0 {
            self.varint(u64::from(field) << 3);
            self.varint(number);
        }
    }

    /// Adds a list of numbers.
    pub(super) fn numbers(&mut self, field: u32, numbers: impl IntoIterator<Item = u64>) {
        let mut packed = Message::default();
        numbers.into_iter().for_each(|number| packed.varint(number));
        self.part(field, &packed.bytes);
    }

    /// Adds bytes, or a text.
    pub(super) fn part(&mut self, field: u32, bytes: &[u8]) {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    /// Adds a message.
    pub(super) fn message(&mut self, field: u32, fill: impl FnOnce(&mut Message)) {
        let mut message = Message::default();
        fill(&mut message);
        self.part(field, &message.bytes);
    }

    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_encoded() {
        let mut message = Message::default();
        message.number(1, 150);
        message.number(2, 0);
        message.part(2, b"testing");
        message.message(3, |inner| inner.number(1, 150));
        message.numbers(4, [3, 270, 86942]);
        // The examples of the encoding's documentation.
        let expected = b"\x08\x96\x01\x12\x07testing\x1a\x03\x08\x96\x01\x22\x06\x03\x8e\x02\x9e\xa7\x05";
        assert_eq!(message.bytes(), expected);
        let mut largest = Message::default();
        largest.number(1, u64::MAX);
        assert_eq!(largest.bytes(), b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    }
}
