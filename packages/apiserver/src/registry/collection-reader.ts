import { type ApiError, expired, type KubernetesObject } from '@coracle/api'
import type { ListOptions } from '@coracle/client'
import type { Page, RegistryWatch, RegistryWatchOptions, Stored, WatchDelivery } from '../registry-contract.ts'
import { ShownView } from '../versions/shown-view.ts'
import type { VersionView } from '../versions/version-view.ts'
import { type Selection, selectionOf } from '../watch-cache/selection.ts'
import type { Slice, SliceOptions } from '../watch-cache/slice.ts'
import type { StoreFeed } from '../watch-cache/store-feed.ts'
import type { WatchCache } from '../watch-cache/watch-cache.ts'
import {
  type ContinueToken,
  encodeContinue,
  inconsistentContinue,
  type ListRequest,
  parseListRequest,
  parseResourceVersion,
  requestedVersion,
} from './list-request.ts'
import { unreadableItems } from './refusals.ts'

/** Objects of which a page sees the shown form at a time, where only that says whether they are selected. */
const shownAtOnce = 100

/** Where a list begins to read. */
interface ListStart {
  readonly revision: number
  /** The key after which it begins. */
  readonly afterKey: string
  readonly following?: number | undefined
  /** What it fails with where that state is no longer known. */
  gone(): ApiError
}

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
    const selection = selectionOf(this.#view.definition, options, this.#view)
    const request = parseListRequest(options)
    const start = await this.#startOf(request, options.resourceVersion)
    this.#checkReadable(selection, start.revision)
    const { limit } = request
    const { matchesShown } = selection
    if (matchesShown !== undefined) return this.#shownPage(start, selection, matchesShown, limit)
    return this.#pageOf(this.#slice(start, selection, { ...start, limit }), start.revision)
  }

  /**
   * Where a selection has to see what it selects from as the version shows it: a watch with these options sees it through this. Options
   * may come back with the revision that the view begins at. Undefined where what is stored says all.
   */
  async shownView(
    options: RegistryWatchOptions,
  ): Promise<{ readonly view: ShownView; readonly options: RegistryWatchOptions } | undefined> {
    const selection = selectionOf(this.#view.definition, options, this.#view)
    const { matchesShown } = selection
    if (matchesShown === undefined) return undefined
    const { resourceVersion = '', sendInitialEvents } = options
    const asked = resourceVersion === '' ? 0 : parseResourceVersion(resourceVersion)
    const view = new ShownView(matchesShown)
    if (Number.isNaN(asked) || (sendInitialEvents ?? asked === 0)) return { view, options }
    if (asked === 0) await this.#feed.catchUp()
    else await this.#cache.reachBack(asked)
    const revision = asked === 0 ? this.#cache.revision : asked
    this.#checkReadable(selection, revision)
    // Where the history does not go back that far, the watch says so.
    const slice = this.#cache.sliceAt(revision, selection, { limit: 0, afterKey: '' })
    const page = await this.#view.showPage({ ...emptyPage, items: slice?.items ?? [], revision })
    view.begin(page.items)
    return { view, options: { ...options, resourceVersion: String(revision) } }
  }

  async watch(
    options: RegistryWatchOptions,
    onEvent: (delivery: WatchDelivery) => boolean,
    onEnd: () => void,
  ): Promise<RegistryWatch> {
    const { definition } = this.#view
    const selection = selectionOf(definition, options, this.#view)
    const { resourceVersion = '', sendInitialEvents, allowWatchBookmarks = false, timeoutSeconds, signal } = options
    const revision = resourceVersion === '' ? 0 : requestedVersion(resourceVersion)
    const beginsWithState = sendInitialEvents ?? revision === 0
    if (beginsWithState)
      await (resourceVersion === '' ? this.#feed.catchUp() : this.#feed.reach(revision, resourceVersion))
    else if (revision > 0) await this.#cache.reachBack(revision)
    if (beginsWithState) this.#checkReadable(selection, this.#cache.revision)
    signal?.throwIfAborted()
    const onAbort = (): void => watch.close()
    const watch = this.#cache.watch(
      {
        selection,
        from: beginsWithState ? 'state' : revision === 0 ? 'now' : revision,
        bookmarks: allowWatchBookmarks,
        bookmarksOnlyEnd: options.bookmarksOnlyEnd === true,
        marksInitialEnd: sendInitialEvents === true && allowWatchBookmarks,
        ...(timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1000 }),
      },
      onEvent,
      () => {
        // A signal may outlive many watches, one after the other.
        signal?.removeEventListener('abort', onAbort)
        onEnd()
      },
    )
    signal?.addEventListener('abort', onAbort)
    return watch
  }

  /** Throws a StorageReadError (500) where the state of a selection is not known, since something is stored that cannot be read. */
  #checkReadable(selection: Selection, revision: number): void {
    const errors = this.#cache.unreadable.within(selection, revision)
    if (errors.length > 0) throw unreadableItems(this.#view.definition, errors)
  }

  /** Where a list begins, when the caches are as far as it asks. */
  async #startOf(request: ListRequest, resourceVersion: string | undefined): Promise<ListStart> {
    switch (request.type) {
      case 'latest':
        if (request.atLeast !== undefined) await this.#feed.reach(request.atLeast, resourceVersion)
        else await this.#feed.catchUp()
        return { revision: this.#cache.revision, afterKey: '', gone: tooOld }
      case 'exact':
        await this.#feed.reach(request.revision, resourceVersion)
        await this.#cache.reachBack(request.revision)
        return { revision: request.revision, afterKey: '', gone: tooOld }
      case 'continue': {
        const { token } = request
        const revision = token.revision < 0 ? this.#cache.revision : token.revision
        // A state is kept under its revision: that of now must not be under one to come, whoever made the token.
        await this.#feed.reach(revision)
        await this.#cache.reachBack(revision)
        return { ...token, revision, gone: () => inconsistentContinue(token) }
      }
    }
  }

  #slice({ revision, gone }: ListStart, selection: Selection, options: SliceOptions): Slice {
    // As upstream a state is given up even where nothing has changed since: clients rely on tokens that end.
    if (revision < this.#cache.statesFrom) throw gone()
    const slice = this.#cache.sliceAt(revision, selection, options)
    if (slice === undefined) throw gone()
    return slice
  }

  /** A page of what matches as it is shown: as much is shown as it takes to fill it, and to know whether more follows. */
  async #shownPage(
    start: ListStart,
    selection: Selection,
    matches: (object: KubernetesObject) => boolean,
    limit: number,
  ): Promise<Page> {
    const { revision } = start
    const items: Stored[] = []
    let lastKey = ''
    for (let { afterKey } = start; ; ) {
      const slice = this.#slice(start, selection, { limit: limit === 0 ? 0 : Math.max(limit, shownAtOnce), afterKey })
      if (slice.lastKey !== '') this.#cache.keepSnapshot(revision)
      const { items: shown } = await this.#view.showPage({ ...emptyPage, items: slice.items, revision })
      for (const item of shown) {
        if (!matches(item.object)) continue
        if (limit > 0 && items.length === limit) {
          const token: ContinueToken = { revision, afterKey: lastKey, following: undefined }
          return { ...emptyPage, items, revision, continue: encodeContinue(token) }
        }
        items.push(item)
        const { namespace = '', name = '' } = item.object.metadata
        lastKey = this.#cache.keyOf(namespace, name)
      }
      if (slice.lastKey === '') return { ...emptyPage, items, revision }
      afterKey = slice.lastKey
    }
  }

  /** A page; where more follow, its state is kept for the pages after it. */
  #pageOf({ items, lastKey, remaining }: Slice, revision: number): Page {
    if (lastKey === '') return { items, revision, continue: '', remainingItemCount: undefined }
    this.#cache.keepSnapshot(revision)
    const token: ContinueToken = { revision, afterKey: lastKey, following: remaining }
    return { items, revision, continue: encodeContinue(token), remainingItemCount: remaining }
  }
}

const emptyPage: Page = { items: [], revision: 0, continue: '', remainingItemCount: undefined }

const tooOld = (): ApiError => expired('The resourceVersion for the provided list is too old.')
