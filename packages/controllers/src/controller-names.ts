/** A controller of kube-controller-manager, and the built-in controllers that do its work here. */
export interface ControllerName {
  readonly name: string
  /** What it was called before 1.28, which its flags still know. */
  readonly alias?: string
  /** Names of `builtinControllers`; none where there is nothing to do for it here. */
  readonly runs: readonly string[]
}

/**
 * The controllers of kube-controller-manager that are on by default or GA, by the names that its `--controllers` knows them by
 * (cmd/kube-controller-manager/names and the descriptors of its app, v1.36).
 */
export const controllerNames: readonly ControllerName[] = [
  named('bootstrap-signer-controller', 'bootstrapsigner'),
  {
    name: 'certificatesigningrequest-approving-controller',
    alias: 'csrapproving',
    runs: ['certificatesigningrequest-approving-controller', 'kubelet-serving-approving-controller'],
  },
  named('certificatesigningrequest-cleaner-controller', 'csrcleaner'),
  named('certificatesigningrequest-signing-controller', 'csrsigning'),
  { name: 'cloud-node-lifecycle-controller', alias: 'cloud-node-lifecycle', runs: [] },
  named('clusterrole-aggregation-controller', 'clusterrole-aggregation'),
  named('cronjob-controller', 'cronjob'),
  { name: 'daemonset-controller', alias: 'daemonset', runs: ['daemon-set-controller'] },
  named('deployment-controller', 'deployment'),
  named('device-taint-eviction-controller'),
  named('disruption-controller', 'disruption'),
  { name: 'endpoints-controller', alias: 'endpoint', runs: ['endpoint-controller'] },
  named('endpointslice-controller', 'endpointslice'),
  {
    name: 'endpointslice-mirroring-controller',
    alias: 'endpointslicemirroring',
    runs: ['endpointslicemirroring-controller'],
  },
  named('ephemeral-volume-controller', 'ephemeral-volume'),
  { name: 'garbage-collector-controller', alias: 'garbagecollector', runs: ['generic-garbage-collector'] },
  {
    name: 'horizontal-pod-autoscaler-controller',
    alias: 'horizontalpodautoscaling',
    runs: ['horizontal-pod-autoscaler'],
  },
  named('job-controller', 'job'),
  named('legacy-serviceaccount-token-cleaner-controller', 'legacy-service-account-token-cleaner'),
  named('namespace-controller', 'namespace'),
  { name: 'node-ipam-controller', alias: 'nodeipam', runs: [] },
  { name: 'node-lifecycle-controller', alias: 'nodelifecycle', runs: ['node-controller'] },
  { name: 'node-route-controller', alias: 'route', runs: [] },
  { name: 'persistentvolume-attach-detach-controller', alias: 'attachdetach', runs: ['attachdetach-controller'] },
  {
    name: 'persistentvolume-binder-controller',
    alias: 'persistentvolume-binder',
    runs: ['persistent-volume-binder', 'persistent-volume-phase'],
  },
  { name: 'persistentvolume-expander-controller', alias: 'persistentvolume-expander', runs: ['expand-controller'] },
  { name: 'persistentvolume-protection-controller', alias: 'pv-protection', runs: ['pv-protection-controller'] },
  { name: 'persistentvolumeclaim-protection-controller', alias: 'pvc-protection', runs: ['pvc-protection-controller'] },
  { name: 'pod-garbage-collector-controller', alias: 'podgc', runs: ['pod-garbage-collector'] },
  named('replicaset-controller', 'replicaset'),
  { name: 'replicationcontroller-controller', alias: 'replicationcontroller', runs: ['replication-controller'] },
  {
    name: 'resourceclaim-controller',
    alias: 'resource-claim-controller',
    runs: ['resource-claim-controller', 'resource-claim-templates'],
  },
  named('resourcequota-controller', 'resourcequota'),
  {
    name: 'root-ca-certificate-publisher-controller',
    alias: 'root-ca-cert-publisher',
    runs: ['root-ca-cert-publisher'],
  },
  { name: 'selinux-warning-controller', runs: [] },
  { name: 'service-cidr-controller', runs: ['service-cidrs-controller'] },
  named('service-lb-controller', 'service'),
  { name: 'serviceaccount-controller', alias: 'serviceaccount', runs: ['service-account-controller'] },
  named('serviceaccount-token-controller', 'serviceaccount-token'),
  named('statefulset-controller', 'statefulset'),
  // One controller with the node lifecycle here.
  { name: 'taint-eviction-controller', runs: ['node-controller'] },
  named('token-cleaner-controller', 'tokencleaner'),
  named('ttl-after-finished-controller', 'ttl-after-finished'),
  { name: 'ttl-controller', alias: 'ttl', runs: [] },
  { name: 'validatingadmissionpolicy-status-controller', runs: ['validatingadmissionpolicy-status'] },
  named('volumeattributesclass-protection-controller'),
]

/** One that has the same name here. */
function named(name: string, alias?: string): ControllerName {
  return { name, ...(alias === undefined ? {} : { alias }), runs: [name] }
}

/**
 * Which built-in controllers run with a list as kube-controller-manager's `--controllers` has it: `*` stands for all, `NAME` for
 * one, `-NAME` leaves one out; the first word about a controller counts, and without `*` those that are not named do not run.
 * What does the work of two controllers runs where either does. Controllers that are none of upstream's controller manager, as the one of
 * custom resource definitions, always run. Throws where a name is not known.
 */
export function controllersOf(list: readonly string[]): (builtin: string) => boolean {
  const byWord = new Map(
    controllerNames.flatMap((each) => [each.name, each.alias ?? each.name].map((word) => [word, each])),
  )
  const isWanted = new Map<ControllerName, boolean>()
  for (const word of list.filter((each) => each !== '*')) {
    const controller = byWord.get(word.replace(/^-/, ''))
    if (controller === undefined) throw new Error(unknown(word.replace(/^-/, '')))
    if (!isWanted.has(controller)) isWanted.set(controller, !word.startsWith('-'))
  }
  const runs = new Map<string, boolean>()
  for (const each of controllerNames) {
    const wanted = isWanted.get(each) ?? list.includes('*')
    for (const builtin of each.runs) runs.set(builtin, wanted || runs.get(builtin) === true)
  }
  return (builtin) => runs.get(builtin) ?? true
}

const unknown = (word: string): string =>
  `"${word}" is not in the list of known controllers: kube-controller-manager's names are meant, such as statefulset-controller`
