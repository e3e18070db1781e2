/* r4 serve: a page for a folder of photos, or for texts, in the browser of whoever sits at this machine.
 *
 *   http.c     connections: the only file that knows libmicrohttpd; bounds their number, size and time
 *   admit.c    who may ask: the token, Host, Origin
 *   route.c    one request in, one answer out: the table of all addresses
 *   answer_*.c the answers
 *   place.c    files of the folder, never outside of it; written beside and renamed
 *  findings.c    find.json;  marks.c  marks.json;  masks.c  masks/;  tasks.c  r4 find, train and report as processes
 *  corpus.c   texts instead of photos, and their settings;  mask_words.c  mask_words.txt, what must not matter in them
 *
 * One thread does all of it; work that takes long is done by other processes, which leave files. */
#ifndef R4_CLI_SERVE_H
#define R4_CLI_SERVE_H

#include <limits.h>

#include "cli.h"
#include "serve/tasks.h"

enum {
  SECRET_SIZE = 33,       /* 128 bits in hexadecimal digits, and a zero          */
  MOST_JSON = 1 << 20,    /* bytes of a request that is JSON                     */
  MOST_PNG = 16 << 20,    /* and of one that is a mask                           */
  MOST_PHOTO = 256 << 20, /* bytes of a photo that is shown                      */
  MOST_FILE = 64 << 20,   /* of a file of JSON                                   */
  MOST_MASK = 40000000,   /* pixels of a photo that can be painted on            */
  VERSION_SIZE = 17,      /* of what a mask is: the beginning of its SHA-256     */
  KEY_SIZE = 96,          /* of a finding                                        */
  MOST_WORD = 512,        /* room for a word of the list                         */
};

/* ---- Requests and answers ---- */

/* One request, whoever has read it. */
struct request {
  const char *method, *path;
  const char *(*argument)(const void *from,
                          const char *name); /* of the address after "?"; NULL if it is not there */
  const char *(*header)(const void *from, const char *name);
  const void *from;
  const uint8_t *body;
  size_t size;
};

struct answer {
  int status;
  const char *type;
  const void *body;
  size_t size;
  void *own;               /* to be released with the answer */
  void (*release)(void *); /* NULL: there is nothing to release */
  char etag[80];           /* or "" */
  bool page;               /* gets the cookie */
  bool report;             /* a page of r4 report: has its own script, and sees nothing of this one */
};

void answer_clear(struct answer *a);
/* {"error": sentence} */
void answer_error(struct answer *a, int status, const char *format, ...)
  __attribute__((format(printf, 3, 4)));
/* The status of HTTP for an error of the library, with its text. */
void answer_failed(struct answer *a, r4_status s, const r4_error *e);
/* Takes the text of the writer, and frees it. */
void answer_json(struct answer *a, r4_json *w);
void answer_bytes(struct answer *a, const char *type, void *bytes, size_t size, void (*release)(void *));

/* ---- The folder ---- */

struct finding {
  char key
    [KEY_SIZE]; /* its id, and a hash of what it says: another search may give another finding the same id */
  const char *id, *what, *class, *words; /* words: of texts, "very, bad", or NULL */
  const r4_json_value *json;
};

/* What a file was when it was read. */
struct stamp {
  int64_t size, seconds, nanoseconds;
  uint64_t inode;
};

struct found {
  r4_json_value *root;
  struct stamp stamp;
  size_t n;
  struct finding *finding;
};

struct decision {
  char *key, *id, *what, *answer; /* core, irrelevant, unsure */
  int64_t edit;                   /* counts its changes       */
};

struct judged {
  char *key, *file, *answer; /* accepted, rejected */
};

struct marks {
  struct stamp stamp;
  size_t n, judged;
  struct decision *decision;
  struct judged *judge;
};

/* Texts: a table in the folder, or the folder with a folder for each class. */
struct corpus {
  r4_data *data;            /* NULL: the site is of photos */
  char table[NAME_MAX + 1]; /* its name in the folder, or "." */
  char tokenizer[PATH_MAX]; /* as settings have it; "": the usual one */
  int64_t length;           /* tokens that are read of a text; 0: as many as usual */
  bool other_words;         /* r4.yaml has a list of its own */
  bool means_irrelevant;    /* the texts have marks of their own, and these say what must not matter */
};

/* mask_words.txt as it was read last. */
struct word_list {
  struct stamp stamp;
  char version[VERSION_SIZE]; /* "none": there is no file */
  r4_listed_words *count;
};

struct site {
  int root;              /* the folder, for openat */
  char folder[PATH_MAX]; /* its absolute path      */
  r4_photos *photos;     /* NULL: the site is of texts */
  struct corpus corpus;
  struct word_list words;
  const char *refuses_words; /* why the list cannot be edited here, or NULL  */
  size_t n, classes;
  size_t *by_name;           /* photos in the order of their names */
  bool *masked;              /* the photo has a mask               */
  bool table;                /* there is metadata.csv: folders of ours are not classes */
  const char *refuses_masks; /* why none may be painted, or NULL */
  char token[SECRET_SIZE], cookie[SECRET_SIZE];
  int port;
  bool hasty; /* for tests: files are not waited for on the disk */
  struct found found;
  struct marks marks;
  struct tasks tasks;
};

/* The folder, or the table of texts, is opened and read; token and cookie are drawn. s->corpus.tokenizer may be set. */
r4_status site_open(struct site *s, const char *source, bool means_irrelevant, r4_error *e);
void site_close(struct site *s);
/* The number of the photo with this name in metadata.csv, or path; s->n: there is none. */
size_t site_photo(const struct site *s, const char *file);
/* Where runs are, in the folder. */
const char *site_runs(const struct site *s);

/* Answers a request that was read whole. */
void serve_answer(struct site *s, const struct request *r, struct answer *a);
/* What can be said before the body is read: false with an answer if the request is refused; *most is how many bytes of
 * a body it may have. */
bool serve_admit(const struct site *s, const struct request *r, size_t *most, struct answer *a);

/* ---- admit.c ---- */

/* 128 random bits; false if the system has none. */
bool guard_secret(char secret[SECRET_SIZE]);
/* 0, or the status of HTTP with which the request is refused, and why. */
int guard_refuses(const struct site *s, const struct request *r, bool writes, const char **why);
/* The name of the cookie: ports of a machine share their cookies. */
void guard_cookie_name(const struct site *s, char name[32]);

/* ---- place.c ---- */

/* No path leads out: no "..", no absolute path, no link but within the folder; images/ itself may be one, as for the
 * reader. 0, or errno with a sentence in e. The bytes are freed with free, and have a zero after the last. */
int place_read(const struct site *s, const char *path, size_t most, uint8_t **bytes, size_t *size,
               struct stamp *stamp, r4_error *e);
int place_stat(const struct site *s, const char *path, struct stamp *stamp);
/* A descriptor, or -1 and errno. */
int place_open(const struct site *s, const char *path, int how);
/* Beside and renamed, on the disk when it returns; folders are made. Links are not followed at all. */
r4_status place_write(const struct site *s, const char *path, const void *bytes, size_t size, r4_error *e);
r4_status place_remove(const struct site *s, const char *path, r4_error *e);
bool stamp_equal(const struct stamp *a, const struct stamp *b);

/* ---- findings.c ---- */

/* Reads find.json again if it has changed; 0 with s->found, ENOENT if there is none, or another errno. */
int found_refresh(struct site *s, r4_error *e);
void found_clear(struct found *f);
const struct finding *found_get(const struct found *f, const char *key); /* NULL: there is none */
/* Where the proposals for a finding are: its folder, or a file in it. */
void found_place(const char *key, const char *file, char path[PATH_MAX]);

/* ---- marks.c ---- */

r4_status marks_refresh(struct site *s, r4_error *e);
void marks_clear(struct marks *m);
/* Writes the file if there is none: from then on it says that the masks of the folder are ours. */
r4_status marks_begin(struct site *s, r4_error *e);
const struct decision *marks_decision(const struct marks *m, const char *key);
/* Changes it in memory and on the disk, or not at all. */
r4_status marks_decide(struct site *s, const struct finding *f, const char *answer, r4_error *e);
/* The same of photos of a finding; answer "" takes back what was said. */
r4_status marks_judge(struct site *s, const char *key, size_t n, const size_t *photo, const char *answer,
                      r4_error *e);
/* For each photo of s what was said: 0, 'a' accepted, 'r' rejected; free. */
char *marks_said(const struct site *s, const char *key);

/* ---- corpus.c ---- */

/* The folder has texts in folders of classes. */
bool corpus_is_folder(const struct site *s);
/* A table of texts in the folder, other than metadata.csv; false: there is none. */
bool corpus_table(const struct site *s, char name[NAME_MAX + 1]);
/* Reads the settings of the folder, if it has any, and all texts. */
r4_status corpus_open(struct site *s, bool means_irrelevant, r4_error *e);
/* How r4 find and the list read the texts. */
r4_data_options corpus_reading(const struct site *s);
/* The settings for training, as a new file has them. free; NULL when out of memory. */
char *corpus_settings(const struct site *s);

/* ---- mask_words.c ---- */

extern const char words_file[];
/* Reads the list again if it has changed. */
r4_status words_refresh(struct site *s, r4_error *e);
void words_clear(struct word_list *l);
bool words_has(const struct site *s, const char *word);
/* What a list can have: not empty, without what separates words, not too long. */
bool words_can_have(const char *word);
/* The words of a finding, one after the other: false after the last. *at begins at f->words. */
bool words_next(const char **at, char word[MOST_WORD]);
/* Adds the words of "add" that are missing, and takes out those of "remove" ("a, b" or NULL). */
r4_status words_change(struct site *s, const char *add, const char *remove, r4_error *e);
/* marks_decide, and the list follows unless it cannot be edited here: both are changed, or neither. */
r4_status words_decide(struct site *s, const struct finding *f, const char *answer, r4_error *e);

/* ---- masks.c ---- */

/* What the mask of the photo is now; "none" if there is none. */
r4_status mask_version(const struct site *s, size_t photo, char version[VERSION_SIZE], r4_error *e);
/* The mask as pixels, 0 or 255; all 0 if there is none. r4_image_clear. */
r4_status mask_read(const struct site *s, size_t photo, r4_image *to, char version[VERSION_SIZE],
                    r4_error *e);
/* Any mask file in the folder, of that size if it is not 0. */
r4_status mask_read_file(const struct site *s, const char *path, size_t height, size_t width, r4_image *to,
                         r4_error *e);
/* Height and width of the photo as it is shown. */
r4_status mask_photo_size(const struct site *s, size_t photo, r4_image *size, r4_error *e);
/* Makes every pixel 0 or 255. Says whether any is 255. */
bool mask_settle(r4_image *mask);
/* R4_E_BUSY if the mask is not what base says. One without a white pixel is removed. */
r4_status mask_write(struct site *s, size_t photo, r4_image *mask, char version[VERSION_SIZE],
                     const char *base, r4_error *e);

/* ---- http.c ---- */

/* Why this build cannot serve, or NULL. */
const char *http_missing(void);
/* Serves until a signal comes. Returns an exit code. port 0: any. */
int http_serve(struct site *s, int port, void (*ready)(const struct site *s, void *user), void *user);

#endif
