#include "base/map_notes.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum { MOST = 1 << 16 }; /* bytes of notes: some hundred; then they begin anew */

static char *name_of(const struct map *m)
{
  struct text t = {0};
  text_add(&t, "%s.notes", m->path);
  return text_take(&t);
}

/* The notes that are there for this very file, as text, or NULL. r4_mem_free. */
static char *read_notes(const struct map *m, const char *name)
{
  uint8_t *bytes = NULL;
  size_t size = 0, first = strlen(m->seen);
  if (file_read(name, MOST, &bytes, &size, NULL)) return NULL;
  char *text = (char *)bytes;
  if (!strncmp(text, m->seen, first) && text[first] == '\n') return text;
  r4_mem_free(bytes);
  return NULL;
}

static bool find(const char *notes, const char *key, char value[HASH_HEX])
{
  char word[HASH_HEX], found[HASH_HEX];
  for (const char *line = strchr(notes, '\n'); line; line = strchr(line + 1, '\n')) {
    if (sscanf(line, " %64s %64s", word, found) != 2 || strcmp(word, key)) continue;
    memcpy(value, found, sizeof found);
    return true;
  }
  return false;
}

bool map_noted(const struct map *m, const char *key, char value[HASH_HEX])
{
  char *name = name_of(m), *notes = name ? read_notes(m, name) : NULL;
  bool there = notes && find(notes, key, value);
  r4_mem_free(notes);
  r4_string_free(name);
  return there;
}

void map_note(const struct map *m, const char *key, const char *value)
{
  char *name = m->only_read ? NULL : name_of(m), *notes = name ? read_notes(m, name) : NULL;
  struct text t = {0};
  if (notes && strlen(notes) < MOST - 4 * HASH_HEX)
    text_add(&t, "%s", notes);
  else
    text_add(&t, "%s\n", m->seen);
  text_add(&t, "%s %s\n", key, value);
  if (name) file_write_text(name, &t, NULL);
  r4_string_free(text_take(&t));
  r4_mem_free(notes);
  r4_string_free(name);
}
