#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { EMPTY, THREAD, MINOTAUR = 7 };

struct room {
  int number;
  enum kind kind;
  double size;
  char name[8];
  struct room *next;
};

typedef struct room room_t;

static int made;
const char *greeting = "into the labyrinth";

room_t *make(int number, enum kind kind, const char *name)
{
  room_t *r = malloc(sizeof *r);
  r->number = number;
  r->kind = kind;
  r->size = number * 1.5;
  strncpy(r->name, name, sizeof r->name);
  r->next = 0;
  made++;
  return r;
}

static double measure(const room_t *r)
{
  double sum = 0;
  while (r) {
    sum += r->size;
    r = r->next;
  }
  return sum;
}

double walk(int rooms)
{
  room_t *first = 0;
  for (int i = rooms; i > 0; i--) {
    room_t *r = make(i, i == 1 ? MINOTAUR : i % 2 ? THREAD : EMPTY, "room");
    r->next = first;
    first = r;
  }
  printf("%s: %d rooms\n", greeting, made);
  double size = measure(first);
  while (first) {
    room_t *next = first->next;
    free(first);
    first = next;
  }
  return size;
}

float half(float x) { return x / 2; }

long sum(int a, long b, double c, const char *text, unsigned char d)
{
  return a + b + (long)c + (long)strlen(text) + d;
}

void nothing(void) { }

int main(int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    puts(argv[i]);
  return argc > 3 ? (exit(3), 0) : argc;
}
