#include "arguments.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "r4_tools.h"

enum { MAX_OPTIONS = 64 };

/* Of an option's name, without what its value is called. */
static int name_length(const char *name)
{
  return (int)strcspn(name, " ");
}

static bool complain(const char *command, const char *name, const char *expected, const char *got)
{
  fprintf(stderr, "r4 %s: --%.*s needs %s, got \"%s\"\n", command, name_length(name), name, expected, got);
  return false;
}

static bool read_whole(const char *command, const struct option *o, const char *s, int64_t *value)
{
  char *end, expected[96];
  errno = 0;
  long long v = strtoll(s, &end, 10);
  bool number = end > s && !*end && !errno && !strchr(" \t\n\v\f\r", *s);
  if (!number || (double)v < o->min || (double)v > o->max) {
    snprintf(expected, sizeof expected, "a whole number from %.0f to %.0f", o->min, o->max);
    return complain(command, o->name, expected, s);
  }
  *value = v;
  return true;
}

static bool read_real(const char *command, const struct option *o, const char *s, double *value)
{
  char *end, expected[96];
  double v = strtod(s, &end);
  bool number = end > s && !*end && isfinite(v) && !strchr(" \t\n\v\f\r", *s);
  if (!number || v < o->min || v > o->max) {
    snprintf(expected, sizeof expected, "a number from %g to %g", o->min, o->max);
    return complain(command, o->name, expected, s);
  }
  *value = v;
  return true;
}

static bool add_word(const char *command, const struct option *o, const char *s, struct words *list)
{
  if (list->n == MAX_WORDS) return complain(command, o->name, "to be given fewer times", s);
  list->word[list->n++] = s;
  return true;
}

static bool read_value(const char *command, const struct option *o, const char *s, void *settings)
{
  void *place = (char *)settings + o->offset;
  switch (o->type) {
  case OPTION_FLAG:
    *(bool *)place = true;
    return true;
  case OPTION_WHOLE:
    return read_whole(command, o, s, place);
  case OPTION_REAL:
    return read_real(command, o, s, place);
  case OPTION_TEXT:
  case OPTION_WORD:
    *(const char **)place = s;
    return true;
  case OPTION_LIST:
  case OPTION_WORDS:
    return add_word(command, o, s, place);
  case OPTION_REST: /* see keep_rest */
    break;
  }
  return false;
}

static bool set_initial(const char *command, const struct option *table, void *settings)
{
  for (const struct option *o = table; o->name; o++) {
    void *place = (char *)settings + o->offset;
    if (o->type == OPTION_FLAG)
      *(bool *)place = false;
    else if (o->type == OPTION_LIST || o->type == OPTION_WORDS)
      *(struct words *)place = (struct words){0};
    else if (o->type == OPTION_REST)
      *(struct rest *)place = (struct rest){0};
    else if (!read_value(command, o, o->initial ? o->initial : "", settings))
      return false;
  }
  return true;
}

static bool is_word(const struct option *o)
{
  return o->type == OPTION_WORD || o->type == OPTION_WORDS || o->type == OPTION_REST;
}

static const struct option *find(const struct option *table, const char *name, size_t length)
{
  for (const struct option *o = table; o->name; o++)
    if (!is_word(o) && (size_t)name_length(o->name) == length && !memcmp(o->name, name, length)) return o;
  return NULL;
}

static bool has(const struct option *table, const char *name)
{
  for (const struct option *o = table; o->name; o++)
    if (!strcmp(o->name, name)) return true;
  return false;
}

/* "--epochs 5" is a setting: says "--set epochs=5". */
static bool hint_at_setting(const struct option *table, const char *word, const char *next)
{
  char name[64];
  size_t length = strncmp(word, "--", 2) ? 0 : strcspn(word + 2, "=");
  if (!length || length >= sizeof name || !has(table, "set KEY=VALUE")) return false;
  snprintf(name, sizeof name, "%.*s", (int)length, word + 2);
  for (char *c = name; *c; c++)
    if (*c == '-') *c = '_';
  const char *key = r4_setting_meant(name), *value = word + 2 + length;
  if (!key) return false;
  value = *value ? value + 1 : next && *next != '-' ? next : "VALUE";
  const char *option = strchr(value, ',') && has(table, "over KEY=A,B,C") ? "over" : "set";
  fprintf(stderr, "; %s is a setting: --%s %s=%s", key, option, key, value);
  return true;
}

/* next: the word behind it, or NULL. */
static bool unknown(const char *command, const struct option *table, const char *word, const char *next)
{
  const struct option *best = NULL;
  size_t least = 3;
  for (const struct option *o = table; o->name && !strncmp(word, "--", 2); o++) {
    char name[32];
    if (is_word(o)) continue;
    snprintf(name, sizeof name, "%.*s", name_length(o->name), o->name);
    size_t distance = r4_word_distance(word + 2, name);
    if (distance < least) least = distance, best = o;
  }
  fprintf(stderr, "r4 %s: %s \"%s\"", command, *word == '-' ? "unknown option" : "unexpected argument", word);
  if (!hint_at_setting(table, word, next) && best)
    fprintf(stderr, "; did you mean --%.*s?", name_length(best->name), best->name);
  fprintf(stderr, "\nTry: r4 help %s\n", command);
  return false;
}

/* The next word that is still to be given, or its absence. */
static const struct option *next_word(const struct option *table, const bool *seen)
{
  const struct option *o = table;
  while (o->name && (!is_word(o) || seen[o - table])) o++;
  return o->name ? o : NULL;
}

/* Where a word without a name goes: to the next one that is needed, or to the list that takes all others. */
static const struct option *place_of_word(const struct option *table, const bool *seen)
{
  const struct option *o = next_word(table, seen);
  for (; !o && table->name; table++)
    if (table->type == OPTION_WORDS || table->type == OPTION_REST) return table;
  return o;
}

/* There are never more of them than words that were looked at: the front of argv has room. */
static bool keep_rest(const struct option *o, void *settings, char **argv, int k)
{
  struct rest *list = (struct rest *)(void *)((char *)settings + o->offset);
  list->word = argv;
  argv[list->n++] = argv[k];
  return true;
}

static bool missing(const char *command, const struct option *word)
{
  fprintf(stderr, "r4 %s: needs %s, %s\nTry: r4 help %s\n", command, word->name, word->help, command);
  return false;
}

/* The option that a word names, and what follows its "=", if there is one. */
static const struct option *split(const struct option *table, const char *word, const char **value)
{
  if (strncmp(word, "--", 2)) return NULL;
  size_t length = strcspn(word + 2, "=");
  *value = word[2 + length] ? word + 2 + length + 1 : NULL;
  return find(table, word + 2, length);
}

bool options_read(const char *command, const struct option *table, void *settings, int argc, char **argv)
{
  bool seen[MAX_OPTIONS] = {false};
  if (!set_initial(command, table, settings)) return false;
  for (int k = 0; k < argc; k++) {
    const char *value = NULL;
    const struct option *o = split(table, argv[k], &value), *word = place_of_word(table, seen);
    if (!o && word && *argv[k] && *argv[k] != '-') {
      seen[word - table] = true;
      bool rest = word->type == OPTION_REST;
      if (!(rest ? keep_rest(word, settings, argv, k) : read_value(command, word, argv[k], settings)))
        return false;
      continue;
    }
    if (!o) return unknown(command, table, argv[k], k + 1 < argc ? argv[k + 1] : NULL);
    if (seen[o - table] && o->type != OPTION_LIST)
      return complain(command, o->name, "to be given once", argv[k]);
    seen[o - table] = true;
    bool flag = o->type == OPTION_FLAG, more = k + 1 < argc && strncmp(argv[k + 1], "--", 2);
    if (!flag && !value && more) value = argv[++k];
    if (flag && value) return complain(command, o->name, "no value", value);
    if (!flag && !value) return complain(command, o->name, "a value", "nothing");
    if (!read_value(command, o, value, settings)) return false;
  }
  const struct option *word = next_word(table, seen);
  bool may_be_missing = word && word->type == OPTION_WORD && word->initial;
  return !word || may_be_missing || missing(command, word);
}

static bool print_given(FILE *f, const struct option *o, const void *place)
{
  const char *initial = o->initial ? o->initial : "";
  switch (o->type) {
  case OPTION_FLAG:
    if (!*(const bool *)place) return false;
    fprintf(f, " --%.*s", name_length(o->name), o->name);
    return true;
  case OPTION_WHOLE:
    if (*(const int64_t *)place == strtoll(initial, NULL, 10)) return false;
    fprintf(f, " --%.*s %lld", name_length(o->name), o->name, (long long)*(const int64_t *)place);
    return true;
  case OPTION_REAL:
    if (*(const double *)place == strtod(initial, NULL)) return false;
    fprintf(f, " --%.*s %.17g", name_length(o->name), o->name, *(const double *)place);
    return true;
  case OPTION_TEXT:
    if (!*(const char *const *)place || !strcmp(*(const char *const *)place, initial)) return false;
    fprintf(f, " --%.*s ", name_length(o->name), o->name);
    cli_print_word(f, *(const char *const *)place);
    return true;
  default:
    return false;
  }
}

bool options_print_given(FILE *f, const struct option *table, const void *settings)
{
  bool any = false;
  for (const struct option *o = table; o->name; o++) any |= print_given(f, o, (const char *)settings + o->offset);
  return any;
}

void options_usage(const struct option *table)
{
  bool options = false;
  for (const struct option *o = table; o->name; o++) {
    if (is_word(o))
      printf(o->initial ? " [%s%s]" : " %s%s", o->name, o->type == OPTION_WORD ? "" : "...");
    else
      options = true;
  }
  if (options) printf(" [OPTIONS]");
}

/* Words of text in lines of up to 100 columns; the first begins at column from, the others, too. */
static void print_wrapped(const char *text, int from)
{
  enum { WIDTH = 100 };
  int column = from;
  while (*text) {
    int n = (int)strcspn(text, " ");
    if (column > from && column + 1 + n > WIDTH) {
      printf("\n%*s", from, "");
      column = from;
    }
    column += printf("%s%.*s", column > from ? " " : "", n, text);
    text += n + (text[n] == ' ');
  }
  printf("\n");
}

/* "--eps EPS", "--mask-means MEANS", "--examples N", "--set KEY=VALUE", "RUN" */
static void describe_name(const struct option *o, char *to, size_t size)
{
  size_t n = (size_t)snprintf(to, size, "%s%s", is_word(o) ? "" : "--", o->name);
  if (is_word(o) || o->type == OPTION_FLAG || strchr(o->name, ' ')) return;
  const char *number = o->type == OPTION_WHOLE ? "N" : o->type == OPTION_REAL ? "X" : NULL;
  const char *dash = strrchr(o->name, '-'), *last = dash ? dash + 1 : o->name;
  snprintf(to + n, size - n, " %s", number ? number : last);
  for (char *c = to + n; !number && *c; c++) *c = (char)toupper((unsigned char)*c);
}

void options_help(const struct option *table)
{
  enum { MOST = 22 }; /* a longer name has a line of its own */
  char left[64], help[1000];
  int width = 0;
  for (const struct option *o = table; o->name; o++) {
    describe_name(o, left, sizeof left);
    int n = (int)strlen(left);
    if (n > width && n <= MOST) width = n;
  }
  for (const struct option *o = table; o->name; o++) {
    bool default_is_told = o->initial && *o->initial;
    describe_name(o, left, sizeof left);
    snprintf(help, sizeof help, "%s%s%s%s", o->help, default_is_told ? " (default " : "",
             default_is_told ? o->initial : "", default_is_told ? ")" : "");
    bool apart = printf("  %-*s", width, left) > width + 2;
    printf("%s%*s", apart ? "\n" : "", apart ? width + 4 : 2, "");
    print_wrapped(help, width + 4);
  }
}
