import type { KubernetesObject, Resource } from '@coracle/api'
import {
  byController,
  controllerIndexName,
  type InformerOptions,
  keyOf,
  keyText,
  type RateLimiter,
} from '@coracle/client'
import type { Clock } from '@coracle/environment'
import type { KeySource } from './key-source.ts'
import { controllerOf } from './owners.ts'
import type { Change, Predicate } from './predicates.ts'
import type { Lookup, Reconcile } from './reconcile.ts'

/**
 * Keys reconciled at a time. In one process these are interleaved promises, not threads: more of them cost nothing while
 * they wait, and what they write at the same time reaches the disk in one commit. Upstream runs 5 of most controllers.
 */
export const concurrentReconcilesDefault = 16

/** What a controller reconciles, what it listens to, and how. Made by `controller(name)`; run by a manager. */
export interface Controller {
  readonly name: string
  /** The name events are reported under. */
  readonly component: string
  readonly maxConcurrentReconciles: number
  /** The resource that is reconciled. It is the first of the sources. */
  readonly resource: Resource
  readonly sources: readonly Source[]
  /** Sources that come and go while it runs. */
  readonly changingSources: readonly ChangingSources[]
  /** Sources that are no resources. */
  readonly keySources: readonly KeySource[]
  /** How long failed keys wait; undefined: as the manager says. */
  readonly rateLimiter: RateLimiterFactory | undefined
  readonly resyncPeriodMs: number | undefined
  readonly needsLeaderElection: boolean
  readonly reconcile: Reconcile<KubernetesObject>
}

/** Makes the rate limiter of a controller each time it begins to run. */
export type RateLimiterFactory = (clock: Clock) => RateLimiter

/** A resource whose cache the controller reads, and which keys its changes concern. */
export interface Source {
  readonly resource: Resource
  readonly options: InformerOptions<KubernetesObject>
  readonly predicates: readonly Predicate<KubernetesObject>[]
  keysOf(object: KubernetesObject, lookup: Lookup): readonly string[]
  /** Whether two states of an object concern the same keys, as far as can be told at once. Absent: it cannot. */
  readonly hasSameKeys?: ((old: KubernetesObject, object: KubernetesObject) => boolean) | undefined
  /** Whether it is there to be read: changes concern no key. */
  readonly isOnlyRead?: boolean | undefined
  /** Whether a change has failed keys of its namespace tried again at once; where it is in none, all. */
  readonly endsWaits?: boolean
  /** Finds further keys by asking. */
  readonly asyncKeysOf?: ((object: KubernetesObject, lookup: Lookup) => Promise<readonly string[]>) | undefined
}

/** Resources that come and go, such as those an API serves. */
export interface ResourceFeed {
  readonly resources: () => readonly Resource[]
  /** Calls `listener` whenever `resources` gives others, until the returned function is called. Absent: it never does. */
  readonly onResourcesChange?: ((listener: () => void) => () => void) | undefined
}

/** The sources that follow from the resources there are. */
export interface ChangingSources {
  readonly feed: ResourceFeed
  /** The source that a resource is. Undefined: it is none. */
  sourceOf(resource: Resource): Source | undefined
}

export interface SourceOptions<T extends KubernetesObject> extends InformerOptions<T> {
  /** A change counts only if all of these hold. */
  readonly predicates?: readonly Predicate<T>[]
}

export interface ControllerOptions {
  /** The name events are reported under; `<name>-controller` by default. */
  readonly component?: string
  /** 16 by default. */
  readonly maxConcurrentReconciles?: number
  /** How long failed keys wait before they are tried again; the manager's by default. */
  readonly rateLimiter?: RateLimiterFactory
  /**
   * Every object is looked at again after this time, though nothing has changed: for controllers that look after something outside
   * the cluster. Never, unless given. What has changed goes first.
   */
  readonly resyncPeriodMs?: number
  /** Whether it runs only while its manager leads, where managers compete. True by default. */
  readonly needsLeaderElection?: boolean
}

/**
 * Describes a controller, step by step:
 *
 *     controller('website').for(websites).owns(deployments).reconcile(async ({ object }, context) => …)
 */
export function controller(name: string, options: ControllerOptions = {}): ControllerStart {
  return { for: (resource, source) => new Builder(name, options, resource, source) }
}

export interface ControllerStart {
  /** The resource to reconcile. */
  for<T extends KubernetesObject>(resource: Resource<T>, options?: SourceOptions<T>): ControllerBuilder<T>
}

export interface ControllerBuilder<T extends KubernetesObject> {
  /** Objects of this resource belong to the reconciled one by a controlling owner reference; a change concerns their owner. */
  owns<U extends KubernetesObject>(resource: Resource<U>, options?: SourceOptions<U>): ControllerBuilder<T>
  /** A change of such an object concerns the keys that `keysOf` names. It is asked about the old and the new state. */
  watches<U extends KubernetesObject>(
    resource: Resource<U>,
    keysOf: (object: U, lookup: Lookup) => readonly string[],
    options?: SourceOptions<U>,
  ): ControllerBuilder<T>
  /** As `watches`, where it takes asking to find the keys. A question that fails is asked again. */
  watchesAsync<U extends KubernetesObject>(
    resource: Resource<U>,
    keysOf: (object: U, lookup: Lookup) => Promise<readonly string[]>,
    options?: SourceOptions<U>,
  ): ControllerBuilder<T>
  /**
   * A change of such an object may be what failed keys of its namespace wait for: they are tried again at once, and not when their
   * wait is over, which may be a quarter of an hour. Choose with `predicates` the changes that give hope.
   */
  retriesOn<U extends KubernetesObject>(resource: Resource<U>, options?: SourceOptions<U>): ControllerBuilder<T>
  /** Keys that come from elsewhere: a channel, a timer, a message queue. */
  watchesSource(source: KeySource): ControllerBuilder<T>
  /**
   * Watches every resource of a feed for which `keysOf` gives a function. A resource that comes is watched within a moment, and
   * not waited for; one that is gone is forgotten.
   */
  watchesAll(
    feed: ResourceFeed,
    keysOf: (resource: Resource) => ((object: KubernetesObject, lookup: Lookup) => readonly string[]) | undefined,
    options?: SourceOptions<KubernetesObject>,
  ): ControllerBuilder<T>
  /** The controller reads this resource; changes of it concern no key. */
  reads<U extends KubernetesObject>(resource: Resource<U>, options?: InformerOptions<U>): ControllerBuilder<T>
  /** Completes the description. */
  reconcile(reconcile: Reconcile<T>): Controller
}

class Builder<T extends KubernetesObject> implements ControllerBuilder<T> {
  readonly #name: string
  readonly #options: ControllerOptions
  readonly #resource: Resource<T>
  readonly #sources: Source[] = []
  readonly #changingSources: ChangingSources[] = []
  readonly #keySources: KeySource[] = []

  constructor(name: string, options: ControllerOptions, resource: Resource<T>, source: SourceOptions<T> = {}) {
    this.#name = name
    this.#options = options
    this.#resource = resource
    this.#add(resource, source, (object) => [keyOf(object)], { hasSameKeys: () => true })
  }

  owns<U extends KubernetesObject>(resource: Resource<U>, options: SourceOptions<U> = {}): ControllerBuilder<T> {
    const indexes = { ...options.indexes, [controllerIndexName]: byController }
    const isOwned = (object: KubernetesObject): boolean => controllerOf(object, this.#resource) !== undefined
    // Most objects are others': to know that is cheaper than what predicates compare.
    const concernsOwner = (change: Change<U>): boolean =>
      isOwned(change.object) || (change.type === 'update' && isOwned(change.old))
    const predicates = [concernsOwner, ...(options.predicates ?? [])]
    const keysOf = (object: KubernetesObject): readonly string[] => {
      const owner = controllerOf(object, this.#resource)
      if (owner === undefined) return []
      return [keyText(this.#resource.namespaced ? object.metadata.namespace : undefined, owner.name)]
    }
    return this.#add(resource, { ...options, indexes, predicates }, keysOf, { hasSameKeys: haveSameOwners })
  }

  watches<U extends KubernetesObject>(
    resource: Resource<U>,
    keysOf: (object: U, lookup: Lookup) => readonly string[],
    options: SourceOptions<U> = {},
  ): ControllerBuilder<T> {
    return this.#add(resource, options, keysOf)
  }

  watchesAsync<U extends KubernetesObject>(
    resource: Resource<U>,
    asyncKeysOf: (object: U, lookup: Lookup) => Promise<readonly string[]>,
    options: SourceOptions<U> = {},
  ): ControllerBuilder<T> {
    return this.#add(resource, options, () => [], { asyncKeysOf })
  }

  retriesOn<U extends KubernetesObject>(resource: Resource<U>, options: SourceOptions<U> = {}): ControllerBuilder<T> {
    const { predicates = [], ...informerOptions } = options
    this.#sources.push({
      resource,
      options: informerOptions,
      predicates,
      keysOf: () => [],
      endsWaits: true,
    } as unknown as Source)
    return this
  }

  watchesSource(source: KeySource): ControllerBuilder<T> {
    this.#keySources.push(source)
    return this
  }

  watchesAll(
    feed: ResourceFeed,
    keysOf: (resource: Resource) => ((object: KubernetesObject, lookup: Lookup) => readonly string[]) | undefined,
    { predicates = [], ...options }: SourceOptions<KubernetesObject> = {},
  ): ControllerBuilder<T> {
    this.#changingSources.push({
      feed,
      sourceOf(resource) {
        const keys = keysOf(resource)
        return keys === undefined ? undefined : { resource, options, predicates, keysOf: keys }
      },
    })
    return this
  }

  reads<U extends KubernetesObject>(resource: Resource<U>, options: InformerOptions<U> = {}): ControllerBuilder<T> {
    return this.#add(resource, options, () => [], { isOnlyRead: true })
  }

  reconcile(reconcile: Reconcile<T>): Controller {
    return {
      name: this.#name,
      component: this.#options.component ?? `${this.#name}-controller`,
      maxConcurrentReconciles: this.#options.maxConcurrentReconciles ?? concurrentReconcilesDefault,
      resource: this.#resource,
      sources: [...this.#sources],
      changingSources: [...this.#changingSources],
      keySources: [...this.#keySources],
      rateLimiter: this.#options.rateLimiter,
      resyncPeriodMs: this.#options.resyncPeriodMs,
      needsLeaderElection: this.#options.needsLeaderElection ?? true,
      // A controller only ever gets objects of the resource it was described for.
      reconcile: reconcile as unknown as Reconcile<KubernetesObject>,
    }
  }

  #add<U extends KubernetesObject>(
    resource: Resource<U>,
    { predicates = [], ...options }: SourceOptions<U>,
    keysOf: (object: U, lookup: Lookup) => readonly string[],
    more: Pick<Source, 'hasSameKeys' | 'isOnlyRead'> & {
      readonly asyncKeysOf?: (object: U, lookup: Lookup) => Promise<readonly string[]>
    } = {},
  ): this {
    this.#sources.push({ resource, options, predicates, keysOf, ...more } as unknown as Source)
    return this
  }
}

/** States of an object in process share what is the same. Of others it is not known before their keys are. */
const haveSameOwners = (old: KubernetesObject, object: KubernetesObject): boolean =>
  old.metadata.ownerReferences === object.metadata.ownerReferences
