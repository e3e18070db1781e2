#include "document_case.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"

/* ---- Blocks ---- */

/* What a line of the shell has open at its end: a quote, parentheses, a backslash. */
struct open {
  char quote;
  int depth;
  bool backslash;
};

static bool is_open(const struct open *o)
{
  return o->quote || o->depth > 0 || o->backslash;
}

/* Adds a line up to its explanation to what is there already. */
static void take(char *to, size_t room, const char *line, size_t n, struct open *o)
{
  size_t used = strlen(to);
  o->backslash = false;
  for (size_t i = 0; i < n && used + 2 < room; i++) {
    char c = line[i];
    if (!o->quote && i && (!strncmp(line + i, "   ", 3) || !strncmp(line + i, " #", 2))) break;
    if (c == '\\' && i + 1 < n)
      to[used++] = c, c = line[++i]; /* whatever it is, it opens nothing */
    else if (c == '\\')
      o->backslash = true;
    else if (o->quote)
      o->quote = c == o->quote ? 0 : o->quote;
    else if (c == '\'' || c == '"')
      o->quote = c;
    else if (c == '(' || c == ')')
      o->depth += c == '(' ? 1 : -1;
    to[used++] = c;
  }
  if (is_open(o)) to[used++] = '\n';
  while (!is_open(o) && used && to[used - 1] == ' ') used--;
  to[used] = 0;
}

/* Where the line of a block begins: after four blanks, or at once between fences; NULL if it is none. */
static const char *in_block(const char *line, size_t n, bool fence)
{
  if (fence) return n ? line : NULL;
  return n > 4 && !strncmp(line, "    ", 4) && line[4] != ' ' ? line + 4 : NULL;
}

static char *whole_file(const char *document)
{
  uint8_t *bytes = NULL;
  size_t size = 0;
  if (file_read(document, 1 << 20, &bytes, &size, NULL)) fail_msg("%s cannot be read", document);
  char *text = calloc(size + 1, 1);
  assert_non_null(text);
  memcpy(text, bytes, size);
  r4_mem_free(bytes);
  return text;
}

/* A fence: "```" alone is a block of ours, with the name of a language not. */
struct fence {
  bool inside, ours;
};

static bool is_fence(const char *line, size_t n, struct fence *f)
{
  if (strncmp(line, "```", 3)) return false;
  f->ours = !f->inside && n == 3;
  f->inside = !f->inside;
  return true;
}

struct block_line *document_lines(const char *document, size_t *count)
{
  char *text = whole_file(document);
  struct block_line *all = NULL;
  struct fence fence = {0};
  struct open open = {0};
  int number = 0, block = 0;
  size_t n;
  *count = 0;
  for (const char *line = text; *line; line += n + (line[n] == '\n')) {
    n = strcspn(line, "\n");
    number++;
    if (is_fence(line, n, &fence)) continue;
    const char *code = fence.inside && !fence.ours ? NULL : in_block(line, n, fence.inside);
    if (!code && is_open(&open) && !strncmp(line, "    ", 4)) code = line + 4;
    if (!code) {
      block++, open = (struct open){0};
      continue;
    }
    size_t length = n - (size_t)(code - line);
    if (!is_open(&open)) {
      assert_non_null(all = realloc(all, (*count + 1) * sizeof *all));
      all[(*count)++] =
        (struct block_line){.at = {document, number}, .block = block, .session = !strncmp(code, "$ ", 2)};
      if (all[*count - 1].session) code += 2, length -= 2;
    }
    take(all[*count - 1].text, sizeof all->text, code, length, &open);
  }
  free(text);
  return all;
}

/* ---- Backquotes ---- */

void document_codes(const char *document, document_seen *seen, void *to)
{
  char *text = whole_file(document), code[400];
  struct fence fence = {0};
  bool inside = false;
  int number = 0, begun = 0;
  size_t used = 0, n;
  for (const char *line = text; *line; line += n + (line[n] == '\n')) {
    n = strcspn(line, "\n");
    number++;
    if (is_fence(line, n, &fence) || fence.inside || !n || !strncmp(line, "    ", 4)) {
      inside = false; /* of a paragraph that ended */
      continue;
    }
    for (size_t i = 0; i <= n; i++) {
      char c = i < n ? line[i] : ' ';
      if (c == '`' && inside) code[used] = 0, seen((struct place){document, begun}, code, to);
      if (c == '`')
        inside = !inside, used = 0, begun = number;
      else if (inside && used + 1 < sizeof code)
        code[used++] = c;
    }
  }
  free(text);
}

/* ---- All of them ---- */

size_t documents_each(void (*call)(const char *document, void *to), void *to)
{
  glob_t found = {0};
  const char *pattern[] = {"README.md",          "CONTRIBUTING.md",
                           "doc/*.md",           "experiments/README.md",
                           "experiments/*/*.md", "experiments/*/*/README.md"};
  for (size_t i = 0; i < sizeof pattern / sizeof *pattern; i++)
    if (glob(pattern[i], i ? GLOB_APPEND : 0, NULL, &found)) fail_msg("there is no %s", pattern[i]);
  size_t n = found.gl_pathc;
  for (size_t i = 0; i < n; i++) call(found.gl_pathv[i], to);
  globfree(&found);
  return n;
}
