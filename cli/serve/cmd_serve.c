/* r4 serve: a page for finding and marking what must not matter, and for training without it. */
#include <string.h>

#include "serve/serve.h"

struct serve_settings {
  const char *folder, *mask_means, *tokenizer;
  int64_t port;
};

#define AT(field) offsetof(struct serve_settings, field)
static const struct option options[] = {
  {"FOLDER", OPTION_WORD, AT(folder), ".", 0, 0,
   "photos, as metadata.csv or folders of classes say; or a table or folder of texts"},
  {"port", OPTION_WHOLE, AT(port), "0", 0, 65535, "port of the page; 0: any free one"},
  {"mask-means", OPTION_TEXT, AT(mask_means), NULL, 0, 0,
   "irrelevant, if the folder has masks and white marks what must not matter"},
  {"tokenizer", OPTION_TEXT, AT(tokenizer), NULL, 0, 0,
   "of texts, as of r4 find; default: as r4.yaml of the folder says, or else minilm's"},
  {0},
};

static void say_ready(const struct site *s, void *user)
{
  (void)user;
  printf("http://127.0.0.1:%d/?token=%s\n", s->port, s->token);
  fflush(stdout);
  fprintf(stderr,
          "open this address in a browser on this machine; whoever has it can do all that the page can\n"
          "Ctrl-C ends; what was said and painted is saved at any moment\n");
}

static int serve(struct site *s, const struct serve_settings *o)
{
  r4_error e = {0};
  char place[PATH_MAX + 8];
  if (http_missing()) return cli_fail("serve", R4_E_IO, http_missing());
  if (strlen(o->tokenizer) >= sizeof s->corpus.tokenizer)
    return cli_fail("serve", R4_E_ARGUMENT, "--tokenizer: the path is too long");
  snprintf(s->corpus.tokenizer, sizeof s->corpus.tokenizer, "%s", o->tokenizer);
  r4_status status = site_open(s, o->folder, *o->mask_means != 0, &e);
  if (status) return cli_fail("serve", status, e.text);
  snprintf(place, sizeof place, "%s/.r4", s->folder);
  r4_lock *lock = r4_lock_take(place, false, &e);
  if (!lock) return cli_fail("serve", e.status, e.text);
  tasks_start(&s->tasks);
  int code = http_serve(s, (int)o->port, say_ready, NULL);
  r4_lock_free(lock);
  return code;
}

static int run(int argc, char **argv)
{
  static struct site s;
  struct serve_settings o;
  s.root = -1;
  if (!options_read("serve", options, &o, argc, argv)) return EXIT_USAGE;
  if (*o.mask_means && strcmp(o.mask_means, "irrelevant")) {
    fprintf(stderr, "r4 serve: --mask-means: the page paints what must not matter, expected irrelevant\n");
    return EXIT_USAGE;
  }
  int code = serve(&s, &o);
  site_close(&s);
  return code;
}

const struct command command_serve = {
  .name = "serve",
  .summary = "a page to find, mark and remove shortcuts, in a browser on this machine",
  .details = "Prints the address of a page for the photos in FOLDER: what gives the label away, masks to "
             "accept, paint and\n"
             "correct, training, and the report. All of it is saved at once, as plain files in FOLDER: "
             "find.json, marks.json,\n"
             "masks/, r4.yaml and runs/. For texts (FILE.csv, .tsv, .jsonl, or a folder for each class) it "
             "has a list of words\n"
             "instead of masks, in mask_words.txt next to them. Only this machine can reach it, and only "
             "with the token in the\n"
             "address. doc/serve.md.",
  .options = options,
  .run = run,
};
