// Returns a test for names. What is no regular expression is text.
function matcher(text) {
  if (!text) return null;
  try {
    const pattern = new RegExp(text, "i");
    return (name) => pattern.test(name);
  } catch (wrong) {
    const lower = text.toLowerCase();
    return (name) => name.toLowerCase().includes(lower);
  }
}

function fitted(text, letters) {
  if (text.length <= letters) return text;
  return letters < 3 ? "" : text.slice(0, letters - 1) + "…";
}
