/* Masks that r4 find proposes for a finding: .r4/proposals/KEY/proposals.json and masks/. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "serve/answers.h"

r4_json_value *proposals_open(const struct site *s, const char *key, const r4_json_value **list, r4_error *e)
{
  char path[PATH_MAX];
  uint8_t *bytes = NULL;
  size_t size = 0;
  *list = NULL;
  found_place(key, "proposals.json", path);
  if (place_read(s, path, MOST_FILE, &bytes, &size, NULL, e)) return NULL;
  r4_json_value *root = r4_json_parse(path, bytes, size, e);
  free(bytes);
  const r4_json_value *within = r4_json_get(root, "proposals");
  *list = within ? within : root;
  return root;
}

static const char *mask_of(const struct site *s, const r4_json_value *list, size_t photo)
{
  for (size_t k = 0; k < r4_json_size(list); k++) {
    const r4_json_value *one = r4_json_at(list, k);
    const char *file = r4_json_as_text(r4_json_get(one, "file"));
    if (file && site_photo(s, file) == photo) return r4_json_as_text(r4_json_get(one, "mask"));
  }
  return NULL;
}

r4_status proposal_read(const struct site *s, const r4_json_value *list, const char *key, size_t photo,
                        r4_image *to, r4_error *e)
{
  char path[PATH_MAX];
  r4_image size;
  const char *mask = mask_of(s, list, photo);
  *to = (r4_image){0};
  if (!mask || strlen(mask) > PATH_MAX / 2) {
    snprintf(e->text, sizeof e->text, "%.300s: no mask is proposed", r4_photos_at(s->photos, photo).name);
    return e->status = R4_E_ARGUMENT;
  }
  found_place(key, mask, path);
  r4_status status = mask_photo_size(s, photo, &size, e);
  return status ? status : mask_read_file(s, path, size.height, size.width, to, e);
}

struct task *propose(struct site *s, const struct finding *f)
{
  char place[PATH_MAX];
  for (size_t k = 0; k < s->tasks.n; k++) {
    struct task *t = s->tasks.task + k;
    if (t->kind == TASK_PROPOSE && t->state <= TASK_RUNNING && !strcmp(t->about, f->key)) return t;
  }
  struct task *t = tasks_add(&s->tasks, TASK_PROPOSE, 0, f->key);
  if (!t) return NULL;
  found_place(f->key, "", place);
  const char *const word[] = {".",      "--mask-means", "irrelevant", "--propose", f->id,
                              "--from", "find.json",    "--out",      place,       "--progress"};
  for (size_t k = 0; k < sizeof word / sizeof *word; k++) task_word(t, word[k]);
  return t;
}
