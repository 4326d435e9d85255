import { isDeepStrictEqual } from 'node:util'
import type { KubernetesObject } from '@coracle/api'
import { type Change, type Invariant, labelOf, type View } from '../view.ts'

/** What is promised of every object. */
export const objectInvariants: readonly Invariant[] = [
  { name: 'a generation counts the changes of the spec', check: onSame(miscounted) },
  { name: 'what was observed was there, and stays so', check: onSame(misobserved) },
  { name: 'who goes does not come back', check: onSame(comesBack) },
  { name: 'an object is replaced only when it is gone', check: replaced },
  { name: 'counts in a status agree with each other', check: disagreeing },
]

interface Whole extends KubernetesObject {
  readonly spec?: unknown
  readonly status?: Readonly<Record<string, unknown>>
}

type SameCheck = (old: Whole, object: Whole) => string | undefined

/** A rule about two versions of one object. */
function onSame(check: SameCheck): NonNullable<Invariant['check']> {
  return ({ old, object }: Change) =>
    old !== undefined && object !== undefined && old.metadata.uid === object.metadata.uid
      ? check(old as Whole, object as Whole)
      : undefined
}

/** Deployments count their annotations too, a deletion counts for all, and the binding of a pod for nothing. */
function miscounted(old: Whole, object: Whole): string | undefined {
  const [before, after] = [old.metadata.generation, object.metadata.generation]
  if (before === undefined || after === undefined) return undefined
  if (old.metadata.deletionTimestamp !== object.metadata.deletionTimestamp) return undefined
  if (object.spec === undefined || nodeOf(old) !== nodeOf(object)) return undefined
  const isChanged = !isDeepStrictEqual(old.spec, object.spec)
  const isRemarked = !isDeepStrictEqual(old.metadata.annotations, object.metadata.annotations)
  const wanted = isChanged ? before + 1 : before
  if (after === wanted || (isRemarked && after === before + 1)) return undefined
  return `${labelOf(object)} has generation ${after} after ${before}, and its spec ${isChanged ? 'has' : 'has not'} changed`
}

const nodeOf = ({ spec }: Whole): unknown => (spec as { readonly nodeName?: unknown } | undefined)?.nodeName

function misobserved(old: Whole, object: Whole): string | undefined {
  const observed = (each: Whole) => Number(each.status?.observedGeneration ?? 0)
  const { generation = 0 } = object.metadata
  if (generation > 0 && observed(object) > generation)
    return `${labelOf(object)}: generation ${observed(object)} was observed before there was one, at ${generation}`
  return observed(object) < observed(old)
    ? `${labelOf(object)}: generation ${observed(object)} was observed after ${observed(old)}`
    : undefined
}

function comesBack(old: Whole, object: Whole): string | undefined {
  return old.metadata.deletionTimestamp !== undefined && object.metadata.deletionTimestamp === undefined
    ? `${labelOf(object)} was to go, and is not any more`
    : undefined
}

function replaced({ old, object }: Change): string | undefined {
  return old !== undefined && object !== undefined && old.metadata.uid !== object.metadata.uid
    ? `${labelOf(object)} is written over one with another uid`
    : undefined
}

/** Each is at most the one before it. */
const shrinking = ['replicas', 'readyReplicas', 'availableReplicas'] as const

function disagreeing({ object }: Change, _view: View): string | undefined {
  const status = (object as Whole | undefined)?.status
  if (object === undefined || status === undefined || object.kind === 'Job') return undefined
  const counts = shrinking.map((field) => Number(status[field] ?? 0))
  const wrong = counts.findIndex((count, index) => count < 0 || (index > 0 && count > (counts[index - 1] ?? 0)))
  return wrong < 0
    ? undefined
    : `${labelOf(object)}: ${shrinking.map((field, index) => `${field} ${counts[index]}`).join(', ')}`
}
