/* What a model takes an image for: the classes with their probabilities, the largest first.
 *
 *     cc -std=c11 classify.c $(pkg-config --cflags --libs r4) -o classify
 *     ./classify MODEL.safetensors PHOTO.png
 *
 * The model is one of examples/photos.c, a run's folder, or a file of ONNX; the photo a PNG or JPEG of any size. */
#include <r4.h>
#include <stdio.h>
#include <stdlib.h>

static r4_status classify(const r4_model *m, const char *file, r4_error *e)
{
  size_t classes = r4_model_classes(m);
  float *probability = calloc(classes, sizeof *probability);
  if (!probability) return fprintf(stderr, "out of memory\n"), R4_E_MEMORY;
  r4_data *image = r4_data_images(&file, 1, r4_net_input(r4_model_net(m)), NULL, e); /* resized to what the net takes */
  if (image && !r4_predict(r4_model_net(m), r4_model_weights(m), image, 1, probability, e))
    for (size_t n = 0; n < classes; n++) {
      size_t best = 0;
      for (size_t k = 1; k < classes; k++)
        if (probability[k] > probability[best]) best = k;
      const char *name = r4_model_class_name(m, best);
      printf("%-12s %.3f\n", name ? name : "?", probability[best]);
      probability[best] = -1; /* said */
    }
  free(probability), r4_data_free(image);
  return e->status;
}

int main(int argc, char **argv)
{
  r4_error e = {0};
  if (argc < 3) return fprintf(stderr, "usage: classify MODEL PHOTO\n"), 2;
  r4_model *m = r4_model_open(argv[1], NULL, &e);
  r4_status s = m ? classify(m, argv[2], &e) : e.status;
  r4_model_free(m);
  if (e.status) fprintf(stderr, "%s\n", e.text);
  return s ? 1 : 0;
}
