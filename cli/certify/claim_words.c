/* The claim "words": whatever words of a list stand at the masked tokens of a text. */
#include <stdlib.h>
#include <string.h>

#include "certify/certify.h"

static bool asked(const struct certify_settings *o)
{
  return *o->words;
}

static int check(const struct certify_settings *o)
{
  const char *other = *o->eps                          ? "eps"
                      : o->range                       ? "range"
                      : *o->cover                      ? "cover"
                      : o->radius                      ? "radius"
                      : o->gradient                    ? "gradient"
                      : *o->valid                      ? "valid"
                      : *o->vnnlib                     ? "vnnlib"
                      : strcmp(o->method, "intervals") ? "method"
                                                       : NULL;
  if (other) fprintf(stderr, "r4 certify: --%s and --words: expected one of them\n", other);
  return other ? EXIT_USAGE : certify_check_semantics(o);
}

static void file_name(const struct certify_settings *o, char *to, size_t size)
{
  snprintf(to, size, "words%s", strcmp(o->semantics, "real") ? "-any-float" : "");
}

static void part_path(const struct certify_job *j, char path[PART_PATH])
{
  char name[128];
  file_name(j->o, name, sizeof name);
  snprintf(path, PART_PATH, "%s/%s-%s.part", j->run->folder[j->seed], name, j->o->split);
}

static bool kept(const struct certify_job *j)
{
  char path[PART_PATH];
  part_path(j, path);
  return is_file(path);
}

static void saved(const struct certify_job *j)
{
  char path[PART_PATH];
  part_path(j, path);
  remove(path);
}

static r4_status prove(const struct certify_job *j, const r4_certify_options *o, r4_error *e)
{
  return r4_certify_words(r4_model_net(j->model), r4_model_weights(j->model), j->data, j->words->id, j->words->n, o,
                          j->example, e);
}

/* "12,3055" */
static char *text_of(const r4_word_ids *w)
{
  char *text = NULL;
  size_t size;
  FILE *f = open_memstream(&text, &size);
  if (!f) return NULL;
  for (size_t k = 0; k < w->n; k++) fprintf(f, "%s%d", k ? "," : "", (int)w->id[k]);
  return fclose(f) ? NULL : text;
}

/* The list of the run, unless another is given. */
static r4_status find_words(const struct certify_job *j, r4_word_ids *to, r4_error *e)
{
  char *list = NULL;
  r4_status s = R4_OK;
  if (strcmp(j->o->words, "run") && asprintf(&list, "words.list=%s", j->o->words) < 0) return R4_E_MEMORY;
  if (list) s = r4_settings_set(j->run->settings, list, "--words", e);
  free(list);
  return s ? s : r4_settings_words(j->run->settings, j->data, to, e);
}

static int certify_list(struct certify_job *j)
{
  r4_error e = {0};
  char hash[R4_HASH_SIZE], key[2 * PATH_SIZE], path[PART_PATH];
  r4_certify_options o = {.semantics = strcmp(j->o->semantics, "real") ? R4_SEMANTICS_ANY_FLOAT : R4_SEMANTICS_REAL};
  if (!(j->ids = text_of(j->words))) return cli_fail("certify", R4_E_MEMORY, "");
  j->certificate =
    (r4_certificate){.claim = "words", .semantics = j->o->semantics, .method = "intervals", .words = j->ids};
  r4_hash(j->ids, strlen(j->ids), hash);
  int code = certify_key(j, key, sizeof key, "words %s %s", hash, j->o->semantics);
  if (code) return code;
  part_path(j, path);
  r4_status s = certify_from_part(j, path, key, &o, prove, &e);
  return s ? cli_fail("certify", s, e.text) : EXIT_DONE;
}

static int certify(struct certify_job *j)
{
  r4_error e = {0};
  r4_word_ids words = {0};
  if (certify_check_masks(j)) return EXIT_USAGE;
  r4_status s = find_words(j, &words, &e);
  j->words = &words;
  int code = s ? cli_fail("certify", s, e.text) : certify_list(j);
  if (!code && words.unknown)
    fprintf(stderr,
            "r4 certify: %zu of %zu words of the list are not in the vocabulary and replace nothing: \"%s\"%s\n",
            words.unknown, words.listed, shown(words.first_unknown).text, words.unknown > 1 ? ", .." : "");
  j->words = NULL;
  r4_word_ids_free(&words);
  return code;
}

const struct claim claim_words = {
  .name = "words", .asked = asked, .check = check, .file_name = file_name, .certify = certify, .kept = kept,
  .saved = saved};
