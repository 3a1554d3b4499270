/* symmetric5.c with declarations as Phantom-GRAPE's header has them. */
#define OWN_HEADER
#include "symmetric5.c"
