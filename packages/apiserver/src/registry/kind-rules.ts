import type { KubernetesObject, Resource } from '@coracle/api'

/** What upstream's registries decide kind by kind (`strategy.go` and `storage.go` of each resource). */
export interface KindRules {
  /** Whether a PUT to a name that is free creates the object. */
  readonly createsOnUpdate: boolean
  /** Whether an update may leave out the resourceVersion and so overwrite whatever is there. */
  readonly updatesUnconditionally: boolean
  /** Whether a delete answers with the object; else with a Status. */
  readonly returnsDeletedObject: boolean
  /** Whether the client may set the status at creation, as node agents do when they register. */
  readonly keepsStatusOnCreate: boolean
  /** What becomes of dependents when a delete does not say. `ignored`: objects of the kind own nothing. */
  readonly dependents: 'collected' | 'orphaned' | 'ignored'
}

const usual: KindRules = {
  createsOnUpdate: false,
  updatesUnconditionally: true,
  returnsDeletedObject: false,
  keepsStatusOnCreate: false,
  dependents: 'collected',
}

const exceptions: Readonly<Record<string, Partial<KindRules>>> = {
  pods: { returnsDeletedObject: true },
  podtemplates: { returnsDeletedObject: true },
  // Orphaning was the default before there was a garbage collector, and the v1 APIs keep to it.
  replicationcontrollers: { dependents: 'orphaned' },
  'jobs.batch': { dependents: 'orphaned' },
  nodes: { keepsStatusOnCreate: true },
  serviceaccounts: { returnsDeletedObject: true },
  services: { createsOnUpdate: true, returnsDeletedObject: true },
  endpoints: { createsOnUpdate: true },
  limitranges: { createsOnUpdate: true },
  resourcequotas: { returnsDeletedObject: true },
  persistentvolumes: { returnsDeletedObject: true },
  persistentvolumeclaims: { returnsDeletedObject: true },
  events: { createsOnUpdate: true, dependents: 'ignored' },
  'events.events.k8s.io': { createsOnUpdate: true, dependents: 'ignored' },
  'leases.coordination.k8s.io': { createsOnUpdate: true, updatesUnconditionally: false },
  'poddisruptionbudgets.policy': { updatesUnconditionally: false },
  'runtimeclasses.node.k8s.io': { updatesUnconditionally: false },
  'storageclasses.storage.k8s.io': { returnsDeletedObject: true },
  'csinodes.storage.k8s.io': { updatesUnconditionally: false, returnsDeletedObject: true },
  'roles.rbac.authorization.k8s.io': { createsOnUpdate: true },
  'rolebindings.rbac.authorization.k8s.io': { createsOnUpdate: true },
  'clusterroles.rbac.authorization.k8s.io': { createsOnUpdate: true },
  'clusterrolebindings.rbac.authorization.k8s.io': { createsOnUpdate: true },
}

/** The rules of a kind. */
export function kindRulesOf({ group, plural }: Pick<Resource, 'group' | 'plural'>): KindRules {
  const name = group === '' ? plural : `${plural}.${group}`
  return Object.hasOwn(exceptions, name) ? { ...usual, ...exceptions[name] } : usual
}

type WithNamespaceFields = KubernetesObject & {
  readonly spec?: { readonly finalizers?: readonly string[] }
  readonly status?: Readonly<Record<string, unknown>>
}

/** Whether something other than metadata.finalizers keeps an object from going: the finalizers in a namespace's spec. */
export function isHeld(definition: Resource, object: KubernetesObject): boolean {
  if (!isNamespace(definition)) return false
  return ((object as WithNamespaceFields).spec?.finalizers ?? []).length > 0
}

export function isNamespace({ group, plural }: Resource): boolean {
  return group === '' && plural === 'namespaces'
}

/** A namespace whose end has begun. */
export function asTerminating(namespace: KubernetesObject): KubernetesObject {
  const { status } = namespace as WithNamespaceFields
  return { ...namespace, status: { ...status, phase: 'Terminating' } } as KubernetesObject
}
