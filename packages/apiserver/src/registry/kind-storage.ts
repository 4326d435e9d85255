import { type KubernetesObject, notFound, type StoredKind } from '@coracle/api'
import type { VersionView } from '../versions/version-view.ts'
import type { StoredObject } from '../watch-cache/stored-object.ts'
import type { WatchCache } from '../watch-cache/watch-cache.ts'
import type { Allocator } from './allocator.ts'
import { KeyTurns } from './key-turns.ts'
import type { ObjectWriter } from './object-writer.ts'
import type { OutsideRules } from './outside-rules.ts'
import { unreadableObject } from './refusals.ts'

/** What all versions of a kind share: its objects as they are stored, and what changes them. */
export class KindStorage {
  readonly cache: WatchCache
  readonly writer: ObjectWriter
  /** Writers that line up at an object. */
  readonly turns = new KeyTurns()
  /** Gives objects what no two of them may have, where the kind has such things. */
  allocator: Allocator | undefined
  /** What its rules ask of others than the object, where they do. */
  outsideRules: OutsideRules | undefined
  /** What the next object is compared with: controllers create many of one template. */
  lastCreated: KubernetesObject | undefined
  /** Replaced when the kind changes in a way that leaves its objects as they are stored. */
  kind: StoredKind
  /** Objects in the hub's form, whatever they are stored in. */
  hub: VersionView

  constructor(kind: StoredKind, hub: VersionView, cache: WatchCache, writer: ObjectWriter) {
    this.kind = kind
    this.hub = hub
    this.cache = cache
    this.writer = writer
  }

  /** What is there now, without waiting; undefined where there is nothing. Where it cannot be read, what was there before. */
  peek(namespace: string, name: string): StoredObject | undefined {
    return this.cache.get(this.cache.keyOf(namespace, name))
  }

  /** Whether something is stored that cannot be read. */
  isUnreadable(namespace: string, name: string): boolean {
    return this.cache.unreadable.get(this.cache.keyOf(namespace, name)) !== undefined
  }

  /** Throws an InternalError (500) where something is stored that cannot be read. */
  checkReadable(namespace: string, name: string): void {
    const error = this.cache.unreadable.get(this.cache.keyOf(namespace, name))
    if (error !== undefined) throw unreadableObject(error)
  }

  /** What is there now. Throws NotFound, and an InternalError (500) where that cannot be read. */
  existing(namespace: string, name: string): StoredObject {
    this.checkReadable(namespace, name)
    const stored = this.peek(namespace, name)
    if (stored === undefined) throw notFound(this.kind, name)
    return stored
  }

  /** Removes an object that has outlived its time, unless it has changed since: no finalizer or grace period holds it, and no cause is recorded. */
  async expire(old: StoredObject): Promise<void> {
    const { namespace = '', name = '' } = old.object.metadata
    await this.writer.remove(this.cache.keyOf(namespace, name), old, undefined)
  }
}
