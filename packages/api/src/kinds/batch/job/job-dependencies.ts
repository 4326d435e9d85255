import { duplicateField, type FieldError, invalidField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import type { ObjectMeta } from '../../../meta.ts'
import { checkFormat } from '../../../string-formats.ts'
import { checkUnchanged } from '../../validation.ts'

/** Names the Jobs of the same namespace that must be complete before this one starts: `extract, load`. */
export const dependsOnAnnotation = 'coracle.dev/depends-on'

/** A Job waits for so many others at most. */
export const dependenciesMax = 64

const annotationPath = FieldPath.of('metadata', 'annotations').key(dependsOnAnnotation)

/** The names of the Jobs that one depends on, in the order given. */
export function dependenciesOf({ metadata }: { readonly metadata: ObjectMeta }): readonly string[] {
  const text = metadata.annotations?.[dependsOnAnnotation]
  return text === undefined || text.trim() === '' ? [] : text.split(',').map((name) => name.trim())
}

/** What is wrong with the dependencies of a Job by themselves. */
export function validateDependencies(
  metadata: ObjectMeta,
  ownName: string | undefined,
  path: FieldPath = annotationPath,
): readonly FieldError[] {
  const names = dependenciesOf({ metadata })
  if (names.length > dependenciesMax) {
    return [invalidField(path, names.length, `may not name more than ${dependenciesMax} Jobs`)]
  }
  return names.flatMap((name, index) => [
    ...checkFormat('dns1123-subdomain', name).map((problem) => invalidField(path, name, problem)),
    ...(names.indexOf(name) < index ? [duplicateField(path, name)] : []),
    ...(name === ownName ? [dependencyCycle([name, name])] : []),
  ])
}

/** They cannot be changed: what has started does not wait any more, and no cycle can come about later. */
export function validateDependenciesUpdate(metadata: ObjectMeta, old: ObjectMeta): readonly FieldError[] {
  return checkUnchanged(
    metadata.annotations?.[dependsOnAnnotation],
    old.annotations?.[dependsOnAnnotation],
    annotationPath,
  )
}

/** The error of a Job that would wait for itself. `names` is the way from its name back to it. */
export function dependencyCycle(names: readonly string[]): FieldError {
  const why = `must not depend on itself: ${names.join(' -> ')}`
  return invalidField(annotationPath, names[1], why)
}

/**
 * The way from a Job back to itself over the Jobs that it waits for; undefined where there is none. `dependencies` tells
 * what a Job that is there waits for.
 */
export function findCycle(
  name: string,
  own: readonly string[],
  dependencies: (name: string) => readonly string[],
): readonly string[] | undefined {
  const seen = new Set<string>()
  const ways: string[][] = own.map((each) => [name, each])
  for (let way = ways.pop(); way !== undefined; way = ways.pop()) {
    const last = way.at(-1) ?? ''
    if (last === name) return way
    if (seen.has(last)) continue
    seen.add(last)
    for (const each of dependencies(last)) ways.push([...way, each])
  }
  return undefined
}
