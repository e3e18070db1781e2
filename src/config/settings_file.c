/* Settings from a YAML file, which may start from another one:
 *
 *     base: other.yaml      its settings first, those of this file win; relative to the folder of this file
 *     lambda: 0.5
 *     data.from: mnist      the same as a map "data:" with "from: mnist" in it; the dot leaves room for "data: NAME" */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/settings.h"
#include "config/yaml.h"

enum { MOST_BYTES = 1 << 20, MOST_BASES = 16 };

/* The files that are being read: each is the base of the one above it. */
struct chain {
  const struct chain *up;
  const char *path;
  dev_t device;
  ino_t inode;
  int depth;
};

/* ---- Values ---- */

struct values {
  r4_settings *s;
  char seen[SETTINGS_MOST][160]; /* where each setting stands */
  bool may_have_base;
};

/* Some key begins with "KEY.". */
static bool is_group(const char *key)
{
  size_t length = strlen(key);
  const struct setting *t;
  for (size_t k = 0; (t = setting_at(k)); k++)
    if (!strncmp(t->info.key, key, length) && t->info.key[length] == '.') return true;
  return false;
}

static r4_status note_seen(struct values *to, const struct setting *t, const struct yaml_value *v,
                           r4_error *e)
{
  char *seen = to->seen[setting_number(t)];
  if (*seen) return r4_fail(e, R4_E_ARGUMENT, "%s: %s is set at %s already", v->at, t->info.key, seen);
  snprintf(seen, sizeof to->seen[0], "%s", v->at);
  return settings_note_origin(to->s, t, v->key, v->value_at, e);
}

/* What is wrong with v before its text is looked at; NULL for nothing. A plain null is what other programs write for
 * "not set", and not the text "null". */
static const char *misfit(const struct setting *t, const struct yaml_value *v)
{
  bool word = t->info.type == R4_SETTING_TEXT || t->info.type == R4_SETTING_CHOICE;
  bool list = t->info.type == R4_SETTING_REALS;
  if (v->kind == YAML_MAP) return "a map";
  if (v->kind == YAML_LIST) return list ? NULL : "a list";
  if (!v->plain) return word ? NULL : "in quotes";
  if (!*v->text) return "empty";
  return strcmp(v->text, "null") && strcmp(v->text, "~") ? NULL : "null";
}

static r4_status take_value(void *context, const struct yaml_value *v, r4_error *e)
{
  struct values *to = context;
  if (!strcmp(v->key, "base") && to->may_have_base) return R4_OK;
  if (v->kind == YAML_MAP && is_group(v->key)) return R4_OK;
  const struct setting *t = setting_find(v->key);
  if (!t) return setting_unknown(v->at, v->key, e);
  r4_status s = v->kind == YAML_ITEM ? R4_OK : note_seen(to, t, v, e);
  if (s) return s;
  const char *wrong = misfit(t, v);
  if (wrong) return setting_refuse(t, v->value_at, wrong, e);
  if (v->kind == YAML_ITEM) return setting_append(t, v->value_at, v->text, &to->s->values, e);
  return setting_read(t, v->value_at, v->kind == YAML_LIST ? "" : v->text, &to->s->values, e);
}

static r4_status take_values(r4_settings *s, const char *file, const void *data, size_t size,
                             bool may_have_base, r4_error *e)
{
  struct values *to = mem_new(1, sizeof *to, file, e);
  if (!to) return R4_E_MEMORY;
  to->s = s;
  to->may_have_base = may_have_base;
  settings_begin_layer(s);
  r4_status status = yaml_read(file, data, size, take_value, to, e);
  settings_end_layer(s);
  r4_mem_free(to);
  return status;
}

r4_status settings_parse(r4_settings *s, const char *file, const void *data, size_t size, r4_error *e)
{
  r4_error_clear(e);
  return take_values(s, file, data, size, false, e);
}

/* ---- Bases ---- */

struct base {
  struct text name;
  char where[160];
};

static r4_status take_base(void *context, const struct yaml_value *v, r4_error *e)
{
  struct base *b = context;
  if (strcmp(v->key, "base")) return R4_OK;
  if (*b->where) return r4_fail(e, R4_E_ARGUMENT, "%s: base is set at %s already", v->at, b->where);
  if (v->kind != YAML_ONE || !*v->text)
    return r4_fail(e, R4_E_ARGUMENT, "%s: base is not a name, expected the name of a settings file", v->value_at);
  snprintf(b->where, sizeof b->where, "%s", v->value_at);
  text_add(&b->name, "%s", v->text);
  return R4_OK;
}

/* name, relative to the folder of path. */
static char *beside(const char *path, const char *name)
{
  struct text t = {0};
  const char *slash = strrchr(path, '/');
  if (slash && *name != '/') text_add(&t, "%.*s", (int)(slash - path) + 1, path);
  text_add(&t, "%s", name);
  return text_take(&t);
}

static r4_status read_file(r4_settings *s, const char *path, const struct chain *up, r4_error *e);

static r4_status read_base(r4_settings *s, const struct chain *file, const uint8_t *data, size_t size,
                           r4_error *e)
{
  struct base b = {0};
  r4_status status = yaml_read(file->path, data, size, take_base, &b, e);
  char *name = text_take(&b.name), *path = name ? beside(file->path, name) : NULL;
  if (!status && !path) status = r4_fail(e, R4_E_MEMORY, "%s: out of memory", file->path);
  if (!status && *b.where && file->depth == MOST_BASES)
    status = r4_fail(e, R4_E_ARGUMENT, "%s: more than %d files are each the base of the next", b.where, MOST_BASES);
  if (!status && *b.where) status = read_file(s, path, file, e);
  r4_mem_free(name);
  r4_mem_free(path);
  return status;
}

/* A file that is not named or does not exist fails in file_read, with its reason. */
static r4_status check_cycle(struct chain *file, r4_error *e)
{
  struct stat about;
  if (!file->path || stat(file->path, &about)) return R4_OK;
  file->device = about.st_dev;
  file->inode = about.st_ino;
  for (const struct chain *c = file->up; c; c = c->up)
    if (c->device == file->device && c->inode == file->inode)
      return r4_fail(e, R4_E_ARGUMENT, "%s: base leads back to %s", file->up->path,
                     c->path);
  return R4_OK;
}

static r4_status read_file(r4_settings *s, const char *path, const struct chain *up, r4_error *e)
{
  struct chain file = {.up = up, .path = path, .depth = up ? up->depth + 1 : 0};
  uint8_t *data = NULL;
  size_t size = 0;
  r4_status status = check_cycle(&file, e);
  if (!status) status = file_read(path, MOST_BYTES, &data, &size, e);
  if (!status) status = read_base(s, &file, data, size, e);
  if (!status) status = take_values(s, path, data, size, true, e);
  r4_mem_free(data);
  return status;
}

r4_status r4_settings_read(r4_settings *s, const char *path, r4_error *e)
{
  NEEDS(s, "settings", R4_E_ARGUMENT);
  r4_error_clear(e);
  return read_file(s, path, NULL, e);
}
