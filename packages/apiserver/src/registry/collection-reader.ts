import { type About, type ApiError, expired, type FieldError, invalid } from '@coracle/api'
import type { ListOptions, WatchOptions } from '@coracle/client'
import type { Page, RegistryWatch, WatchDelivery } from '../registry-contract.ts'
import type { VersionView } from '../versions/version-view.ts'
import { selectionOf } from '../watch-cache/selection.ts'
import type { Slice } from '../watch-cache/slice.ts'
import type { StoreFeed } from '../watch-cache/store-feed.ts'
import type { WatchCache } from '../watch-cache/watch-cache.ts'
import {
  type ContinueToken,
  encodeContinue,
  inconsistentContinue,
  notAVersion,
  parseListRequest,
  parseResourceVersion,
} from './list-request.ts'

/** Lists and watches of one kind through one version: upstream's options on top of a watch cache. */
export class CollectionReader {
  readonly #cache: WatchCache
  readonly #feed: StoreFeed
  readonly #view: VersionView

  constructor(cache: WatchCache, feed: StoreFeed, view: VersionView) {
    this.#cache = cache
    this.#feed = feed
    this.#view = view
  }

  async list(options: ListOptions): Promise<Page> {
    const request = parseListRequest(options)
    const selection = selectionOf(this.#view.definition, options, this.#view)
    const limit = options.limit ?? 0
    switch (request.type) {
      case 'latest': {
        if (request.atLeast !== undefined) await this.#feed.reach(request.atLeast)
        else await this.#feed.catchUp()
        const { revision } = this.#cache
        return this.#pageOf(this.#cache.slice(selection, { limit, afterKey: '' }), revision)
      }
      case 'exact': {
        await this.#feed.reach(request.revision)
        await this.#cache.reachBack(request.revision)
        const slice = this.#cache.sliceAt(request.revision, selection, { limit, afterKey: '' })
        if (slice === undefined) throw expired('The resourceVersion for the provided list is too old.')
        return this.#pageOf(slice, request.revision)
      }
      case 'continue': {
        const { token } = request
        const revision = token.revision < 0 ? this.#cache.revision : token.revision
        await this.#cache.reachBack(revision)
        const slice = this.#cache.sliceAt(revision, selection, { limit, ...token })
        if (slice === undefined) throw inconsistentContinue(token)
        return this.#pageOf(slice, revision)
      }
    }
  }

  async watch(
    options: WatchOptions,
    onEvent: (delivery: WatchDelivery) => boolean,
    onEnd: () => void,
  ): Promise<RegistryWatch> {
    const { definition } = this.#view
    const selection = selectionOf(definition, options, this.#view)
    const { resourceVersion = '', sendInitialEvents, allowWatchBookmarks = false, timeoutSeconds, signal } = options
    const revision = resourceVersion === '' ? 0 : parseResourceVersion(resourceVersion)
    if (Number.isNaN(revision)) throw badWatchVersion(definition, resourceVersion)
    const beginsWithState = sendInitialEvents ?? revision === 0
    if (beginsWithState) await (resourceVersion === '' ? this.#feed.catchUp() : this.#feed.reach(revision))
    else if (revision > 0) await this.#cache.reachBack(revision)
    signal?.throwIfAborted()
    const watch = this.#cache.watch(
      {
        selection,
        from: beginsWithState ? 'state' : revision === 0 ? 'now' : revision,
        bookmarks: allowWatchBookmarks,
        marksInitialEnd: sendInitialEvents === true && allowWatchBookmarks,
        ...(timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1000 }),
      },
      onEvent,
      onEnd,
    )
    signal?.addEventListener('abort', () => watch.close(), { once: true })
    return watch
  }

  /** A page; where more follow, its state is kept for the pages after it. */
  #pageOf({ items, lastKey, remaining }: Slice, revision: number): Page {
    if (lastKey === '') return { items, revision, continue: '', remainingItemCount: undefined }
    this.#cache.keepSnapshot(revision)
    const token: ContinueToken = { revision, afterKey: lastKey, following: remaining }
    return { items, revision, continue: encodeContinue(token), remainingItemCount: remaining }
  }
}

function badWatchVersion(about: About, resourceVersion: string): ApiError {
  const message = notAVersion(resourceVersion).replace(/^resourceVersion: /, '')
  const error: FieldError = { type: 'FieldValueInvalid', field: 'resourceVersion', message }
  return invalid({ group: about.group, kind: about.plural }, '', [error])
}
