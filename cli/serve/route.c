/* One request in, one answer out. */
#include <stdlib.h>
#include <string.h>

#include "serve/answers.h"
#include "serve/serve_files.h"

enum kind { ANY, PHOTOS, TEXTS };

struct route {
  const char *method, *path, *type; /* type: of its body; NULL: it has none */
  size_t most;
  answer_function *answer;
  enum kind of; /* what the folder must have */
};

static const char json[] = "application/json", png[] = "image/png";

static const struct route routes[] = {
  {"GET", "/api/state", NULL, 0, answer_state, ANY},
  {"GET", "/api/find", NULL, 0, answer_findings, ANY},
  {"GET", "/api/photos", NULL, 0, answer_photos, PHOTOS},
  {"GET", "/api/words", NULL, 0, answer_words, TEXTS},
  {"GET", "/api/log", NULL, 0, answer_log, ANY},
  {"GET", "/api/settings", NULL, 0, answer_settings, ANY},
  {"GET", "/thumb", NULL, 0, answer_thumb, PHOTOS},
  {"GET", "/photo", NULL, 0, answer_photo, PHOTOS},
  {"GET", "/mask", NULL, 0, answer_mask, PHOTOS},
  {"GET", "/proposal", NULL, 0, answer_proposal, PHOTOS},
  {"GET", "/report", NULL, 0, answer_report, ANY},
  {"PUT", "/mask", png, MOST_PNG, answer_paint, PHOTOS},
  {"POST", "/api/decide", json, MOST_JSON, answer_decide, ANY},
  {"POST", "/api/judge", json, MOST_JSON, answer_judge, PHOTOS},
  {"POST", "/api/accept", json, MOST_JSON, answer_accept, PHOTOS},
  {"POST", "/api/search", json, MOST_JSON, answer_search, ANY},
  {"POST", "/api/propose", json, MOST_JSON, answer_propose, PHOTOS},
  {"POST", "/api/words", json, MOST_JSON, answer_edit_words, TEXTS},
  {"POST", "/api/train", json, MOST_JSON, answer_train, ANY},
  {"POST", "/api/stop", json, MOST_JSON, answer_stop, ANY},
};

enum { ROUTES = sizeof routes / sizeof *routes };

/* ---- The page ---- */

static const struct {
  const char *ending, *type;
} types[] = {{".html", "text/html; charset=utf-8"},
             {".css", "text/css; charset=utf-8"},
             {".js", "text/javascript; charset=utf-8"}};

static const struct embedded *page_file(const char *path)
{
  const char *name = strcmp(path, "/") ? path + (*path == '/') : "serve.html";
  for (size_t k = 0; k < serve_files_count; k++)
    if (!strcmp(serve_files[k].name, name)) return serve_files + k;
  return NULL;
}

static void answer_page(const struct embedded *file, struct answer *a)
{
  const char *ending = strrchr(file->name, '.');
  *a = (struct answer){.status = 200, .body = file->text, .size = strlen(file->text), .page = true};
  for (size_t k = 0; k < sizeof types / sizeof *types; k++)
    if (!strcmp(ending, types[k].ending)) a->type = types[k].type;
}

/* ---- Which ---- */

/* NULL with an answer if there is none, or with a page file. */
static const struct route *find(const struct request *r, struct answer *a)
{
  const char *allowed = NULL, *method = !strcmp(r->method, "HEAD") ? "GET" : r->method;
  for (size_t k = 0; k < ROUTES; k++) {
    if (strcmp(routes[k].path, r->path)) continue;
    if (!strcmp(routes[k].method, method)) return routes + k;
    allowed = routes[k].method;
  }
  const struct embedded *file = page_file(r->path);
  if (file && !strcmp(method, "GET"))
    answer_page(file, a);
  else if (allowed || file)
    answer_error(a, 405, "%s is not answered here, only %s", r->method, allowed ? allowed : "GET");
  else
    answer_error(a, 404, "there is nothing of this name");
  return NULL;
}

static bool has_type(const struct request *r, const char *type)
{
  const char *said = r->header(r->from, "Content-Type");
  size_t n = strlen(type);
  return said && !strncmp(said, type, n) && (!said[n] || said[n] == ';');
}

bool serve_admit(const struct site *s, const struct request *r, size_t *most, struct answer *a)
{
  const char *why;
  bool reads = !strcmp(r->method, "GET") || !strcmp(r->method, "HEAD");
  *most = 0;
  int status = guard_refuses(s, r, !reads, &why);
  if (status) {
    answer_error(a, status, "%s", why);
    return false;
  }
  const struct route *to = find(r, a);
  if (!to) return a->status == 200;
  *most = to->most;
  if (!to->type || has_type(r, to->type)) return true;
  answer_error(a, 415, "the body is not %s", to->type);
  return false;
}

/* What only photos have, or only texts. */
static bool fits(const struct site *s, const struct route *to, struct answer *a)
{
  bool texts = s->corpus.data;
  if (to->of == ANY || (to->of == TEXTS) == texts) return true;
  answer_error(a, 400,
               texts
                 ? "these are texts: nothing can be painted on them; what must not matter is a list of words"
                 : "these are photos: what must not matter is painted on them, and no list of words");
  return false;
}

void serve_answer(struct site *s, const struct request *r, struct answer *a)
{
  const struct route *to = find(r, a);
  if (!to || !fits(s, to, a)) return;
  r4_error e = {0};
  r4_json_value *body = NULL;
  if (r->size > to->most) {
    answer_error(a, 413, "the body has more than %zu bytes", to->most);
    return;
  }
  r4_status status = marks_refresh(s, &e);
  if (!status && s->corpus.data) status = words_refresh(s, &e);
  if (!status && to->type == json &&
      !(body = r4_json_parse("the request", r->body ? r->body : (const uint8_t *)"", r->size, &e)))
    status = e.status;
  if (status)
    answer_failed(a, status, &e);
  else
    to->answer(s, r, body, a);
  r4_json_value_free(body);
}
