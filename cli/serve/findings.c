/* find.json, as r4 find has left it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve.h"

static const char file[] = "find.json";

void found_clear(struct found *f)
{
  free(f->finding);
  r4_json_value_free(f->root);
  *f = (struct found){0};
}

/* Ids become names of folders and words of commands. */
static bool is_id(const char *id)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
  return id && *id && *id != '-' && strlen(id) < KEY_SIZE - 16 && !id[strspn(id, letters)];
}

static const char *text_or(const r4_json_value *v, const char *otherwise)
{
  const char *text = r4_json_as_text(v);
  return text ? text : otherwise;
}

static void list_findings(struct found *f)
{
  const r4_json_value *all = r4_json_get(f->root, "findings");
  char hex[R4_HASH_SIZE];
  for (size_t k = 0; k < r4_json_size(all); k++) {
    const r4_json_value *one = r4_json_at(all, k);
    struct finding *to = f->finding + f->n;
    *to = (struct finding){.id = r4_json_as_text(r4_json_get(one, "id")),
                           .what = text_or(r4_json_get(one, "what"), ""),
                           .class = text_or(r4_json_get(one, "class"), ""),
                           .words = r4_json_as_text(r4_json_get(one, "words")),
                           .json = one};
    if (!is_id(to->id)) continue;
    r4_hash(to->what, strlen(to->what), hex);
    snprintf(to->key, sizeof to->key, "%s-%.8s", to->id, hex);
    f->n++;
  }
}

static int parse(struct found *f, const uint8_t *bytes, size_t size, r4_error *e)
{
  f->root = r4_json_parse(file, bytes, size, e);
  if (!f->root) return EINVAL;
  f->finding = calloc(r4_json_size(r4_json_get(f->root, "findings")) + 1, sizeof *f->finding);
  if (!f->finding) return ENOMEM;
  list_findings(f);
  return 0;
}

int found_refresh(struct site *s, r4_error *e)
{
  struct stamp now;
  int why = place_stat(s, file, &now);
  if (!why && s->found.root && stamp_equal(&now, &s->found.stamp)) return 0;
  found_clear(&s->found);
  uint8_t *bytes = NULL;
  size_t size = 0;
  why = place_read(s, file, MOST_FILE, &bytes, &size, &s->found.stamp, e);
  if (!why) why = parse(&s->found, bytes, size, e);
  free(bytes);
  if (why) found_clear(&s->found);
  return why;
}

const struct finding *found_get(const struct found *f, const char *key)
{
  for (size_t k = 0; key && k < f->n; k++)
    if (!strcmp(f->finding[k].key, key)) return f->finding + k;
  return NULL;
}

void found_place(const char *key, const char *name, char path[PATH_MAX])
{
  snprintf(path, PATH_MAX, ".r4/proposals/%s%s%s", key, *name ? "/" : "", name);
}
