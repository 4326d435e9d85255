import type { KubernetesObject } from '@coracle/api'

/** Names an object. */
export interface ObjectReference {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly uid?: string
}

/**
 * - `stuck`: it stays so until somebody does something about it.
 * - `waiting`: it goes on by itself, when what it waits for has come about.
 * - `hint`: worth knowing; nothing shows that it holds the object up.
 */
export type FindingState = 'stuck' | 'waiting' | 'hint'

/** What a rule has found out about an object. Everything it says has to be true of the facts it was given. */
export interface Diagnosis {
  /** For programs, one CamelCase word: `InsufficientResources`. */
  readonly reason: string
  /** What is not as it should be: `no node takes it`. */
  readonly what: string
  /** Why: what the object itself, its events or its surroundings say. */
  readonly because: string
  /** What would change that. */
  readonly remedy: string
  /** `stuck` unless it is said. */
  readonly state?: FindingState
  /** It follows from what holds up others, which is told first where it is known. */
  readonly isSymptom?: true
}

/** A diagnosis, and the object it is about. */
export interface Finding extends Required<Omit<Diagnosis, 'isSymptom'>> {
  /** The object that was asked about, or one that it waits for. */
  readonly object: ObjectReference
  /** How many other objects the same is true of. */
  readonly alike?: number
}

export function referenceTo({ apiVersion, kind, metadata }: KubernetesObject): ObjectReference {
  const { namespace, name = '', uid } = metadata
  return {
    apiVersion,
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    ...(uid === undefined ? {} : { uid }),
  }
}

/** `pod/web`, as commands take it. */
export const shortName = ({ kind, name }: Pick<ObjectReference, 'kind' | 'name'>): string =>
  `${kind.toLowerCase()}/${name}`
