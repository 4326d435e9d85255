import {
  apiVersionOf,
  type ConvertedVersion,
  compile,
  deepFreeze,
  type FieldReader,
  type KubernetesObject,
  type StoredKind,
} from '@coracle/api'
import type { Page, Stored, WatchDelivery } from '../registry-contract.ts'
import { bookmarkOf, type ObjectDelivery } from '../watch-cache/cache-event.ts'
import { StoredObject, unstored } from '../watch-cache/stored-object.ts'
import type { FormCache } from './form-cache.ts'
import { hubFieldsOf, type VersionView } from './version-view.ts'

/** The hub's version of a kind whose objects may be stored, and cached, in any. */
export function lateHubView(kind: StoredKind, forms: FormCache): VersionView {
  const fromHub = kind.custom?.fromStored ?? ((object: KubernetesObject) => object)
  const hubFields = Object.fromEntries(Object.keys(hubFieldsOf(kind)).map((field) => [field, field]))
  return new ConvertedView(kind, { ...kind, fromHub, toHub: (object) => object, hubFields }, forms)
}

/** A version that is converted to and from the hub. */
export class ConvertedView implements VersionView {
  readonly definition: ConvertedVersion
  readonly isHub = false
  readonly selectableFields: StoredKind['selectableFields']
  readonly selectsShown: boolean
  readonly #kind: StoredKind
  readonly #apiVersion: string
  readonly #forms: FormCache
  /** The last delivery shown: everyone who watches gets one event right after the other. */
  #last: { readonly hub: WatchDelivery; readonly shown: WatchDelivery | Promise<WatchDelivery> } | undefined

  constructor(kind: StoredKind, version: ConvertedVersion, forms: FormCache) {
    this.definition = version
    this.selectableFields = Object.fromEntries(
      Object.entries(version.hubFields).map(([field, hub]) => [field, readerOf(kind, hub)]),
    )
    // Where somebody else converts, the stored form need not have the field, nor under this name.
    this.selectsShown = kind.custom?.fromStored !== undefined
    this.#kind = kind
    this.#apiVersion = apiVersionOf(version)
    this.#forms = forms
  }

  show(stored: Stored): Stored | Promise<Stored> {
    if (stored.object.apiVersion === this.#apiVersion) return stored
    if (!(stored instanceof StoredObject)) return this.#convert(stored)
    const shown = this.#forms.get(
      stored,
      this,
      () => this.#convert(stored),
      () => stored.byteLength,
    )
    if (shown instanceof Promise) shown.catch(() => this.#forms.forget(stored, this))
    return shown
  }

  showPage(page: Page): Page | Promise<Page> {
    const items = page.items.map((item) => this.show(item))
    if (!items.some((item) => item instanceof Promise)) return { ...page, items: items as readonly Stored[] }
    return Promise.all(items).then((shown) => ({ ...page, items: shown }))
  }

  showDelivery(delivery: WatchDelivery): WatchDelivery | Promise<WatchDelivery> {
    if (this.#last?.hub !== delivery) this.#last = { hub: delivery, shown: this.#convertDelivery(delivery) }
    return this.#last.shown
  }

  fromHub(object: KubernetesObject): KubernetesObject | Promise<KubernetesObject> {
    if (object.apiVersion === this.#apiVersion) return object
    const shown = this.definition.fromHub(object)
    return shown instanceof Promise ? shown.then((made) => this.#typed(made)) : this.#typed(shown)
  }

  toHub(object: KubernetesObject): KubernetesObject | Promise<KubernetesObject> {
    if (object.apiVersion === apiVersionOf(this.#kind)) return object
    const hub = this.definition.toHub(object)
    return hub instanceof Promise ? hub.then((made) => this.#complete(made)) : this.#complete(hub)
  }

  hubField(field: string): string {
    return this.definition.hubFields[field] ?? field
  }

  #convert(stored: Stored): Stored | Promise<Stored> {
    const shown = this.fromHub(stored.object)
    return shown instanceof Promise ? shown.then((made) => this.#shown(made, stored)) : this.#shown(shown, stored)
  }

  #shown(object: KubernetesObject, { revision, owners }: Stored): Stored {
    return unstored(deepFreeze(object), revision, owners)
  }

  #typed(object: KubernetesObject): KubernetesObject {
    return withType(this.definition, object)
  }

  #convertDelivery(delivery: WatchDelivery): WatchDelivery | Promise<WatchDelivery> {
    const { event, stored } = delivery
    if (event.type === 'BOOKMARK') return bookmarkOf(withType(this.definition, event.object))
    if (event.type === 'ERROR' || stored === undefined) return delivery
    const hub = delivery as ObjectDelivery
    const shown = this.show(stored)
    return shown instanceof Promise ? shown.then((made) => hub.showing(made)) : hub.showing(shown)
  }

  /** In the form that decoding gives, canonical and in the schema's order, with what the hub's version defaults. */
  #complete(converted: KubernetesObject): KubernetesObject {
    const { schema, applyDefaults } = this.#kind
    const compiled = compile(schema)
    const { value } = compiled.decode(withType(this.#kind, converted))
    const complete = compiled.applyDefaults(value)
    return applyDefaults?.(complete) ?? complete
  }
}

function readerOf({ kind, selectableFields }: StoredKind, field: string): FieldReader<KubernetesObject> {
  const reader = selectableFields[field]
  if (reader === undefined) throw new Error(`a version of ${kind} selects by ${field}, which the hub does not`)
  return reader
}

function withType(
  definition: Pick<StoredKind, 'group' | 'version' | 'kind'>,
  object: KubernetesObject,
): KubernetesObject {
  return { ...object, apiVersion: apiVersionOf(definition), kind: definition.kind }
}
