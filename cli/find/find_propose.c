/* r4 find --propose: masks for all images that show a finding; of texts, the setting. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "find/cmd_find.h"

/* The least sure first; none of images that have other channels than a picture. */
static r4_status save_sheet(const r4_proposed *p, const r4_data *d, const char *folder, r4_error *e)
{
  char path[PATH_MAX];
  r4_shape shape = r4_data_shape(d);
  if (!r4_proposed_count(p) || (shape.dim[2] != 1 && shape.dim[2] != 3)) return R4_OK;
  return path_make(path, "%s/sheet.png", folder) ? r4_proposed_sheet(p, d, path, e) : R4_E_ARGUMENT;
}

/* The clue of that name; says which there are if there is none. */
static bool find_clue(const r4_found *f, const char *id, r4_clue *to)
{
  for (size_t k = 0; k < r4_found_count(f); k++) {
    *to = r4_found_at(f, k);
    if (!strcmp(to->id, id)) return true;
  }
  fprintf(stderr, "r4 find: no finding is called \"%s\"; ", shown(id).text);
  if (!r4_found_count(f)) fprintf(stderr, "there are none");
  for (size_t k = 0; k < r4_found_count(f); k++)
    fprintf(stderr, "%s%s", k ? ", " : "there are ", r4_found_at(f, k).id);
  fprintf(stderr, "\n");
  return false;
}

/* What may do better: another place. */
static void print_instead(const struct find_settings *s, bool cluster)
{
  fprintf(stderr, "  Look at them before you use any; ");
  if (cluster || *s->run || s->quick_net) {
    fprintf(stderr, "another finding may do better.\n");
    return;
  }
  fprintf(stderr, "another finding may do better, and what a net leans on, says\n\n");
  find_print_again(stderr, s);
  fprintf(stderr, " --quick-net\n\n");
}

static void warn(const struct find_settings *s, const r4_proposed *p, const r4_clue *c)
{
  char *doubt = r4_proposed_doubt(p, c);
  if (!doubt) return;
  fprintf(stderr, "r4 find: %s\n", doubt);
  r4_string_free(doubt);
  print_instead(s, c->kind == R4_CLUE_CLUSTER);
}

static int print_proposed(const struct find_settings *s, const r4_proposed *p, const r4_clue *c)
{
  const char *folder = s->out;
  size_t n = r4_proposed_count(p), empty = 0;
  for (size_t k = 0; k < n; k++) empty += r4_proposed_at(p, k).area > 0 ? 0 : 1;
  printf("%zu masks in ", n);
  cli_print_word(stdout, folder);
  printf("/masks");
  if (empty) printf(", %zu of them empty", empty);
  printf("; some %.0f %% of them are likely on photos that show it.\nproposals.json lists them, the least sure first.\n"
         "Look at them, %s/sheet.png shows the first 100; remove wrong ones, copy the others to the folder masks\n"
         "of the data, and train with data.mask_means: irrelevant.\n",
         100 * r4_proposed_right(p), shown(folder).text);
  warn(s, p, c);
  return EXIT_DONE;
}

static bool has_masks(const char *folder)
{
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/masks", folder);
  return !access(path, F_OK);
}

int find_propose(const struct find_settings *s, const r4_data *d, const r4_found *f, struct find_clock *clock)
{
  r4_error e = {0};
  r4_clue c;
  const r4_find_options o = {.all = s->all_parts, .report = find_progress, .user = clock};
  if (!find_clue(f, s->propose, &c)) return EXIT_USAGE;
  if (c.words) {
    printf("data.mask_words: %s\n", shown(c.words).text);
    return EXIT_DONE;
  }
  if (!*s->out) return cli_fail("find", R4_E_ARGUMENT, "--propose needs --out and a folder for the masks");
  if (!s->force && has_masks(s->out)) {
    fprintf(stderr,
            "r4 find: %s/masks exists, and its masks may have been corrected: choose another --out, or --force to "
            "write into it\n",
            shown(s->out).text);
    return EXIT_USAGE;
  }
  r4_proposed *p = r4_find_propose(d, &c, &o, &e);
  r4_status status = p ? r4_proposed_save(p, d, c.id, s->source.path, s->out, &e) : e.status;
  if (!status) status = save_sheet(p, d, s->out, &e);
  if (!status && s->quick_net && !*s->from)
    fprintf(stderr, "r4 find: the net was trained for these masks alone; with find.json of a search (--out FOLDER), "
                    "--from FOLDER/find.json needs no net\n");
  int code = status ? cli_fail("find", status, e.text) : print_proposed(s, p, &c);
  r4_proposed_free(p);
  return code;
}
