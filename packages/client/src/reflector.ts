import { ApiError, expired, hasReason, type KubernetesList, type KubernetesObject, type Resource } from '@coracle/api'
import { type Environment, keepProcess, sleep } from '@coracle/environment'
import { type BackOff, createBackOff } from './back-off.ts'
import type { Client, ListOptions, Watch, WatchEvent } from './client.ts'
import { type Outage, outageOf } from './outage.ts'
import type { Scope } from './scope.ts'
import { isOlderVersion } from './versions.ts'
import { batchesOf } from './watch-batches.ts'

/** Objects asked for per page of a list. */
export const listPageMax = 500

/** Waits between failures, as client-go's reflector has them. */
const failureBackOff = { initialMs: 800, maxMs: 30_000, jitter: 1 }

/** A server is asked to end a watch after this long, up to twice as long by chance, so that load spreads anew. */
const watchTimeoutMinMs = 300_000

/** Past its time by this much, a watch is taken for a dead connection. */
const watchGraceMs = 30_000

/** A watch that ends sooner than this without an event counts as a failure: else a broken server is asked in a tight loop. */
const watchShortMs = 1000

/** One for all: a cluster stops a hundred informers, and an error is dear to make, for its stack. */
const stopped = new Error('the informer is stopped')

/** Where a reflector puts what it learns. */
export interface ReflectorTarget<T extends KubernetesObject> {
  /** The whole state at a version. */
  replace(objects: readonly T[], version: string): void
  put(object: T): void
  remove(object: T): void
  /** Everything up to `version` has been delivered. */
  advance(version: string): void
}

/**
 * Reflects the state of one resource into a target: lists once, watches from there, resumes dropped watches where they
 * broke off, and lists again when the server no longer knows that point (410 Expired).
 */
export class Reflector<T extends KubernetesObject> {
  readonly #client: Client
  readonly #resource: Resource<T>
  readonly #scope: Scope
  readonly #environment: Environment
  readonly #target: ReflectorTarget<T>
  readonly #backOff: BackOff
  readonly #outage: Outage
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  /** Where to watch from; undefined when a list is due. */
  #version: string | undefined
  /** Whether the last try has failed, and was told of. */
  #isFailing = false
  /** Whether others found the server back, and it has not worked for this one since: it waits its time then, lest two wake each other. */
  #wasTold = false

  constructor(
    client: Client,
    resource: Resource<T>,
    scope: Scope,
    environment: Environment,
    target: ReflectorTarget<T>,
  ) {
    this.#client = client
    this.#resource = resource
    this.#scope = scope
    this.#environment = environment
    this.#target = target
    this.#backOff = createBackOff(failureBackOff, environment.random)
    this.#outage = outageOf(client)
  }

  start(): void {
    this.#running ??= this.#runInProcess()
  }

  async stop(): Promise<void> {
    this.#stopping.abort(stopped)
    await this.#running
  }

  /** A server that does not answer leaves nothing to wait for but timers: the process does not end for that. */
  async #runInProcess(): Promise<void> {
    const release = keepProcess(this.#environment.clock)
    try {
      await this.#run()
    } finally {
      release()
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      let waitMs: number | undefined
      try {
        if (this.#version === undefined) await this.#list()
        if (await this.#watch()) {
          this.#succeeded()
          continue
        }
      } catch (error) {
        if (signal.aborted) return
        waitMs = this.#backOff.nextMs()
        this.#report(error, waitMs)
      }
      await this.#rest(waitMs ?? this.#backOff.nextMs())
    }
  }

  #succeeded(): void {
    this.#backOff.reset()
    this.#wasTold = false
  }

  /** Waits before the next try: until others find the server back, at most so long. */
  async #rest(waitMs: number): Promise<void> {
    const { clock } = this.#environment
    const { signal } = this.#stopping
    if (this.#wasTold) await sleep(clock, waitMs, signal).catch(() => {})
    this.#wasTold = !this.#wasTold && (await this.#outage.wait(clock, waitMs, signal)) === 'over'
  }

  /** Logs what went wrong and decides whether to list anew. */
  #report(error: unknown, waitMs: number): void {
    const { logger } = this.#environment
    const fields = { ...this.#about(), error, retryInMs: Math.round(waitMs) }
    this.#isFailing = true
    if (isExpired(error)) {
      this.#version = undefined
      logger.info('watch has expired, listing again', fields)
    } else {
      logger.warn(this.#version === undefined ? 'cannot list, trying again' : 'watch failed, resuming', fields)
    }
  }

  #reportRecovery(): void {
    if (!this.#isFailing) return
    this.#isFailing = false
    this.#environment.logger.info('watching again', this.#about())
    this.#outage.end()
  }

  #about() {
    const { plural, group } = this.#resource
    return { resource: plural, ...(group === '' ? {} : { group }) }
  }

  async #list(): Promise<void> {
    const objects: T[] = []
    let page = await this.#listPage({ limit: listPageMax })
    for (;;) {
      for (const object of page.items) objects.push(object)
      const token = page.metadata.continue
      if (token === undefined || token === '') break
      page = await this.#listPage({ limit: listPageMax, continue: token }).catch((error: unknown) => {
        if (!isExpired(error)) throw error
        // Pages that come more slowly than the server forgets would never come to an end: all at once, as client-go's pager has it.
        objects.length = 0
        return this.#listPage({})
      })
    }
    const version = page.metadata.resourceVersion
    if (version === undefined || version === '')
      throw new Error(`the list of ${this.#resource.plural} has no resourceVersion`)
    if (this.#stopping.signal.aborted) return
    this.#version = version
    this.#target.replace(objects, version)
  }

  #listPage(page: Pick<ListOptions, 'limit' | 'continue'>): Promise<KubernetesList<T>> {
    return this.#client.list(this.#resource, { ...this.#scope, ...page, signal: this.#stopping.signal })
  }

  /** Watches until the watch ends. Returns whether it did any good; throws what it ended with. */
  async #watch(): Promise<boolean> {
    const { clock, random } = this.#environment
    // In process there is no dead connection to notice, and no other server to share the load with.
    const timeoutMs = this.#client.staysInProcess?.(this.#resource)
      ? undefined
      : watchTimeoutMinMs * (1 + random.next())
    const startMs = clock.monotonicMs()
    const watch = await this.#openWatch(timeoutMs)
    this.#reportRecovery()
    const { signal } = this.#stopping
    let isStopped = signal.aborted
    const close = () => watch.close()
    // Noted here: a signal takes as long to say whether it is aborted as an event takes.
    const stop = () => {
      isStopped = true
      close()
    }
    const overdue =
      timeoutMs === undefined ? undefined : clock.setTimer(timeoutMs + watchGraceMs, close, { housekeeping: true })
    if (isStopped) close()
    else signal.addEventListener('abort', stop, { once: true })
    let events = 0
    try {
      for await (const batch of batchesOf(watch)) {
        for (const event of batch) {
          if (isStopped) break
          this.#take(event)
          if (events++ === 0) this.#succeeded()
        }
        if (isStopped) break
      }
    } finally {
      overdue?.cancel()
      signal.removeEventListener('abort', stop)
      close()
    }
    return events > 0 || clock.monotonicMs() - startMs >= watchShortMs
  }

  #openWatch(timeoutMs: number | undefined): Promise<Watch<T>> {
    return this.#client.watch(this.#resource, {
      ...this.#scope,
      ...(this.#version === undefined ? {} : { resourceVersion: this.#version }),
      allowWatchBookmarks: true,
      ...(timeoutMs === undefined ? {} : { timeoutSeconds: Math.round(timeoutMs / 1000) }),
      signal: this.#stopping.signal,
    })
  }

  #take(event: WatchEvent<T>): void {
    switch (event.type) {
      case 'ADDED':
      case 'MODIFIED':
        this.#target.put(event.object)
        break
      case 'DELETED':
        this.#target.remove(event.object)
        break
      case 'ERROR':
        throw ApiError.from(event.object)
      case 'BOOKMARK':
        this.#checkBookmark(event.object.metadata.resourceVersion)
        break
    }
    const version = event.object.metadata.resourceVersion
    if (typeof version !== 'string' || version === '') return
    this.#version = version
    this.#target.advance(version)
  }

  /** Throws where the server is at an earlier version than it was: of one that was restored from a backup all is to be listed anew. */
  #checkBookmark(version: string | undefined): void {
    if (!isOlderVersion(version, this.#version)) return
    throw expired(`the server is at version ${version}, and was at ${this.#version}`)
  }
}

/** Upstream says Expired, and said Gone before; both are 410. */
function isExpired(error: unknown): boolean {
  return hasReason(error, 'Expired') || hasReason(error, 'Gone') || (error instanceof ApiError && error.code === 410)
}
