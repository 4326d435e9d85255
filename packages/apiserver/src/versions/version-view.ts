import type { KubernetesObject, ResourceDefinition, StoredKind } from '@coracle/api'
import type { Page, Stored, WatchDelivery } from '../registry-contract.ts'

/**
 * A served version of a kind: how objects look through it, and what is written through it becomes. Whatever answers at once
 * does not return a promise, so that a kind with one version pays nothing for those that have to ask somebody.
 */
export interface VersionView {
  readonly definition: ResourceDefinition
  /** Whether it is the form objects are stored in. */
  readonly isHub: boolean
  /** An object as this version shows it. */
  show(stored: Stored): Stored | Promise<Stored>
  showPage(page: Page): Page | Promise<Page>
  /** What this version shows of a watch's delivery: the same for all who watch. */
  showDelivery(delivery: WatchDelivery): WatchDelivery | Promise<WatchDelivery>
  /** What this version shows of an object in the form it is stored in. */
  fromHub(object: KubernetesObject): KubernetesObject | Promise<KubernetesObject>
  /** The form objects are stored in, complete with its defaults, of a decoded object of this version. */
  toHub(object: KubernetesObject): KubernetesObject | Promise<KubernetesObject>
  /** The fields that may be selected by, under this version's names. */
  readonly selectableFields: StoredKind['selectableFields']
  /** Whether these are read from what the version shows. Else they read what is stored, which costs no conversion. */
  readonly selectsShown: boolean
  /** The hub's name of a field that may be selected by. */
  hubField(field: string): string
}

/** The version objects are stored in: everything is as it is. */
export function hubView(kind: StoredKind): VersionView {
  return {
    definition: kind,
    isHub: true,
    selectableFields: hubFieldsOf(kind),
    selectsShown: false,
    show: (stored) => stored,
    showPage: (page) => page,
    showDelivery: (delivery) => delivery,
    fromHub: (object) => object,
    toHub: (object) => object,
    hubField: (field) => field,
  }
}

/** The fields that the hub's own version may be selected by. */
export function hubFieldsOf({ selectableFields, custom }: StoredKind): StoredKind['selectableFields'] {
  if (custom === undefined) return selectableFields
  return Object.fromEntries(Object.entries(selectableFields).filter(([field]) => custom.hubFields.includes(field)))
}
