/* Counts how often each word of the standard input occurs, and prints the number of words and the most frequent one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHAINS = 1 << 16, LONGEST = 100 };

struct entry {
    struct entry *next;
    unsigned count;
    char word[];
};

static struct entry *table[CHAINS];

unsigned hash(const char *word)
{
    unsigned hash = 0;
    for (; *word; word++)
        hash = hash + (unsigned char)*word;
    return hash % CHAINS;
}

int is_of(const struct entry *entry, const char *word)
{
    return strcmp(entry->word, word) == 0;
}

/* The entry of a word, which is new with the count 0 if the table lacks the word. */
struct entry *find(const char *word)
{
    struct entry **chain = &table[hash(word)];
    for (struct entry *entry = *chain; entry; entry = entry->next)
        if (is_of(entry, word))
            return entry;
    size_t size = strlen(word) + 1;
    struct entry *entry = malloc(sizeof *entry + size);
    if (!entry)
        exit(1);
    memcpy(entry->word, word, size);
    entry->count = 0;
    entry->next = *chain;
    *chain = entry;
    return entry;
}

unsigned read_words(struct entry **most)
{
    char word[LONGEST + 1];
    unsigned words = 0;
    for (; scanf("%100s", word) == 1; words++) {
        struct entry *entry = find(word);
        entry->count++;
        if (!*most || entry->count > (*most)->count)
            *most = entry;
    }
    return words;
}

int main(void)
{
    struct entry *most = NULL;
    unsigned words = read_words(&most);
    printf("%u words, most often: %s\n", words, most ? most->word : "none");
    return 0;
}
