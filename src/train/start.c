/* What a net starts from: weights that are drawn, or those of a run, of a file, or of others, and what inputs these
 * expect. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "data/catalog/catalog.h"
#include "module/module.h"
#include "module/weights.h"
#include "train/task.h"

/* A file or folder; of a run the folder of this seed, if it has several; otherwise the name of weights that
 * "r4 data get" gets. */
static char *weights_path(const struct settings *s)
{
  if (!file_exists(s->from) && catalog_find(s->from)) {
    char *folder = r4_data_folder(NULL), *path = folder ? catalog_weights(folder, s->from) : NULL;
    r4_string_free(folder);
    if (path) return path;
  }
  struct text path = {0};
  text_add(&path, "%s/seed-%lld", s->from, (long long)s->seed);
  if (!path.failed && !file_is_folder(path.s)) path.s[path.length = strlen(s->from)] = 0;
  return text_take(&path);
}

/* *path is NULL where nothing is started from. */
static r4_status find_weights(const struct settings *s, char **path, r4_error *e)
{
  *path = NULL;
  if (!*s->from) return R4_OK;
  *path = weights_path(s);
  if (!*path) return r4_fail(e, R4_E_MEMORY, "%s: out of memory", s->from);
  if (!strcmp(*path, s->from) || file_exists(*path)) return R4_OK;
  r4_status status = r4_fail(e, R4_E_IO, "from is %s, but there is no %.300s: r4 data get %s fetches it",
                             s->from, *path, s->from);
  r4_string_free(*path);
  *path = NULL;
  return status;
}

/* ---- Weights ---- */

/* The name of the last part that has parameters, as a pattern: "fc.*". */
static void last_layer(const r4_net *net, char pattern[PARAM_NAME])
{
  const char *name = r4_net_param_name(net, r4_net_params(net) - 1), *dot = strrchr(name, '.');
  snprintf(pattern, PARAM_NAME, "%.*s*", dot ? (int)(dot - name + 1) : 0, name);
}

/* Weights that do not fit because of their last layer alone are what is fine-tuned most often. */
static r4_status hint(const r4_net *net, const char *path, const r4_load_options *tried, float *weights,
                      r4_error *e)
{
  char head[PARAM_NAME];
  r4_error first = *e, other;
  r4_load_options o = *tried;
  if (e->status != R4_E_SHAPE || *o.skip || !r4_net_params(net)) return e->status;
  last_layer(net, head);
  o.skip = head;
  if (r4_net_load(net, path, &o, weights, NULL, &other)) return first.status;
  return r4_fail(e, first.status, "%.400s; everything else fits: from.head: \"%.60s\" starts the last layer at random",
                 first.text, head);
}

r4_status task_start(const struct settings *s, const r4_net *net, float *weights, r4_error *e)
{
  const r4_load_options options = {.skip = s->head, .ignore = s->from_ignore, .prefix = s->from_prefix};
  char *path = NULL;
  r4_status status = r4_net_init(net, s->init, (uint64_t)s->seed, weights, e);
  if (!status) status = find_weights(s, &path, e);
  if (!status && path && r4_net_load(net, path, &options, weights, NULL, e))
    status = hint(net, path, &options, weights, e);
  r4_string_free(path);
  return status;
}

/* ---- Inputs ---- */

static char *note_of(const char *path, const char *name)
{
  struct st_set set = {0};
  struct text said = {0};
  if (!path || weights_open(&set, path, NULL)) return NULL;
  const char *note = set.files ? st_note(&set.file[0], name) : NULL;
  if (note) text_add(&said, "%s", note);
  st_close(&set);
  return said.length ? text_take(&said) : NULL;
}

r4_status task_preprocess(const struct settings *s, const r4_net *net, struct preprocess *to, char **said,
                          r4_error *e)
{
  char *path;
  *to = (struct preprocess){0};
  r4_status status = find_weights(s, &path, e);
  if (!status) status = preprocess_find(net, path, s->preprocess, to, e);
  if (said) *said = status ? NULL : note_of(path, "preprocessing");
  r4_string_free(path);
  return status;
}

r4_status task_prepare(const struct settings *s, r4_net **net, r4_error *e)
{
  struct preprocess how;
  r4_net *bare = *net;
  r4_status status = task_preprocess(s, bare, &how, NULL, e);
  if (!status && !*how.part) return R4_OK;
  *net = status ? NULL : r4_net_preprocessed(bare, NULL, how.part, e);
  r4_net_free(bare);
  return *net ? R4_OK : e->status;
}

/* Few examples make poor statistics, and those of the weights belong to them. */
bool task_frozen_statistics(const struct settings *s)
{
  return !strcmp(s->frozen_statistics, "auto") ? *s->from : !strcmp(s->frozen_statistics, "true");
}
