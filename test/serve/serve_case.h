/* A folder of photos as r4 serve has it, and requests to it without a connection. */
#ifndef SERVE_CASE_H
#define SERVE_CASE_H

#include "check.h"
#include "serve/serve.h"

enum { SERVE_PORT = 8080, SERVE_WIDTH = 12, SERVE_HEIGHT = 8 };

/* 6 photos of 2 classes, images/0.png to 5.png, wide as above; a finding, "tag", that 0, 2 and 4 show, with masks of
 * their left half proposed, 4 first. */
void serve_folder(const char *folder);
extern const char serve_key[]; /* of the finding */
/* The site of it, without processes. */
void serve_open(struct site *s, const char *folder);

/* What a request says beyond method and address; headers that are not "Name: value" are left out. */
struct asked {
  const char *query; /* "photo=1&base=none" */
  const char *headers[8];
  const void *body;
  size_t size;
};

/* Admitted and answered; answer_clear. The token, Host and Origin are right unless headers say otherwise: a header
 * "Host" alone leaves it out. */
struct answer serve_ask(struct site *s, const char *method, const char *path, struct asked asked);
/* The same, with its status, and the text in it. */
void serve_expect(struct site *s, const char *method, const char *path, struct asked asked, int status,
                  const char *text);
#define GET(s, path, query_, status, text) \
  serve_expect(s, "GET", path, (struct asked){.query = query_}, status, text)
/* JSON in single quotes. */
void serve_post(struct site *s, const char *path, const char *json, int status, const char *text);
/* A mask: white from column from up to column to. */
void serve_paint(struct site *s, const char *query, size_t width, size_t height, size_t from, size_t to,
                 int status, const char *text);

#endif
