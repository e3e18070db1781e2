/* The command r4: a table of commands, as in git. */
#include <string.h>

#include "cli.h"

static const struct command *const commands[] = {&command_demo, &command_bench, &command_graph, &command_ops};

enum { COMMANDS = sizeof commands / sizeof *commands };

int cli_fail(const char *name, r4_status status, const char *text)
{
  if (!*text) text = status == R4_E_MEMORY ? "out of memory" : r4_status_name(status);
  fprintf(stderr, "r4 %s: %s\n", name, text);
  bool usage = status == R4_E_ARGUMENT || status == R4_E_PARSE || status == R4_E_SHAPE || status == R4_E_RULE;
  return usage ? EXIT_USAGE : EXIT_WORLD;
}

void json_string(FILE *f, const char *s)
{
  fputc('"', f);
  for (; *s; s++) {
    if (*s == '"' || *s == '\\')
      fprintf(f, "\\%c", *s);
    else if ((unsigned char)*s < ' ')
      fprintf(f, "\\u%04x", (unsigned)*s);
    else
      fputc(*s, f);
  }
  fputc('"', f);
}

static const struct command *find(const char *name)
{
  for (size_t k = 0; k < COMMANDS; k++)
    if (!strcmp(commands[k]->name, name)) return commands[k];
  return NULL;
}

static int unknown(const char *name)
{
  const char *best = NULL;
  size_t least = 3;
  for (size_t k = 0; k < COMMANDS; k++) {
    size_t distance = r4_word_distance(name, commands[k]->name);
    if (distance < least) least = distance, best = commands[k]->name;
  }
  fprintf(stderr, "r4: no command \"%s\"", name);
  if (best) fprintf(stderr, "; did you mean %s?", best);
  fprintf(stderr, "\nTry: r4 help\n");
  return EXIT_USAGE;
}

static void help(FILE *f)
{
  fprintf(f, "r4 trains networks that are right for the right reasons.\n\n"
             "Usage: r4 COMMAND [OPTIONS]\n\n");
  for (size_t k = 0; k < COMMANDS; k++) fprintf(f, "  %-8s %s\n", commands[k]->name, commands[k]->summary);
  fprintf(f, "  %-8s %s\n\n", "help", "explain a command: r4 help COMMAND");
  fprintf(f, "Exit codes: 0 done, 1 the answer is no, 2 usage, 3 input, output or memory.\n");
}

static int help_command(const struct command *c)
{
  bool options = c->options->name;
  printf("r4 %s: %s\n\nUsage: r4 %s%s\n\n%s\n", c->name, c->summary, c->name, options ? " [OPTIONS]" : "",
         c->details);
  if (options) printf("\n");
  options_help(c->options);
  return EXIT_DONE;
}

static int run_help(int argc, char **argv)
{
  if (argc < 1) {
    help(stdout);
    return EXIT_DONE;
  }
  const struct command *c = find(argv[0]);
  return c ? help_command(c) : unknown(argv[0]);
}

static bool is_help(const char *word)
{
  return !strcmp(word, "--help") || !strcmp(word, "-h");
}

static int run(int argc, char **argv)
{
  if (argc < 2) {
    help(stderr);
    return EXIT_USAGE;
  }
  const char *name = argv[1];
  if (!strcmp(name, "help") || is_help(name)) return run_help(argc - 2, argv + 2);
  if (!strcmp(name, "--version") || !strcmp(name, "version")) {
    printf("r4 %s\n", R4_VERSION);
    return EXIT_DONE;
  }
  const struct command *c = find(name);
  if (!c) return unknown(name);
  for (int k = 2; k < argc; k++)
    if (is_help(argv[k])) return help_command(c);
  if (c->threads) threads_settle(argv);
  return c->run(argc - 2, argv + 2);
}

/* A full disk must not look like success. */
int main(int argc, char **argv)
{
  int code = run(argc, argv);
  if (fflush(stdout) || ferror(stdout)) {
    perror("r4: writing the result");
    return EXIT_WORLD;
  }
  return code;
}
