/** Lists and maps that are looked at only where they are not too long, as upstream's validation of the resource group has it. */
import { duplicateField, type FieldError, tooManyField } from '../../field-error.ts'
import type { FieldPath } from '../../field-path.ts'
import { repeatedAt } from '../../finder.ts'

type Check<T> = (item: T, path: FieldPath) => readonly FieldError[]

/** What is wrong with the items of a list, or that there are too many of them to look at. */
export function checkItems<T>(
  items: readonly T[],
  max: number,
  path: FieldPath,
  check: Check<T>,
): readonly FieldError[] {
  if (items.length > max) return [tooManyField(path, items.length, max)]
  return items.flatMap((item, index) => check(item, path.index(index)))
}

/** As checkItems, and that no two items have the same key, which is shown as it is unless said otherwise. */
export function checkDistinctItems<T>(
  items: readonly T[],
  max: number,
  path: FieldPath,
  keyOf: (item: T) => string,
  check: Check<T>,
  shownKey: (item: T) => unknown = keyOf,
): readonly FieldError[] {
  if (items.length > max) return [tooManyField(path, items.length, max)]
  const repeated = [...repeatedAt(items, keyOf)]
  return [
    ...checkItems(items, max, path, check),
    ...repeated.flatMap((index) => {
      const item = items[index]
      return item === undefined ? [] : [duplicateField(path.index(index), shownKey(item))]
    }),
  ]
}

const shownKeyBytesMin = 16

/** What is wrong with a map. Keys are told at the map, values under their key, of which the middle is left out where it is long. */
export function checkEntries<T>(
  map: Readonly<Record<string, T>>,
  max: number,
  keyBytesMax: number,
  path: FieldPath,
  checkKey: (key: string, path: FieldPath) => readonly FieldError[],
  check: Check<T>,
): readonly FieldError[] {
  const entries = Object.entries(map)
  if (entries.length > max) return [tooManyField(path, entries.length, max)]
  return entries.flatMap(([key, value]) => [
    ...checkKey(key, path),
    ...check(value, path.key(shortKey(key, Math.max(keyBytesMax, shownKeyBytesMin)))),
  ])
}

function shortKey(key: string, max: number): string {
  if (key.length <= max) return key
  const left = max - '...'.length
  return `${key.slice(0, Math.ceil(left / 2))}...${key.slice(key.length - Math.floor(left / 2))}`
}
