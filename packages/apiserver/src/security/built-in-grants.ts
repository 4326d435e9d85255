import { openIdPaths } from '../http/openid-paths.ts'

/**
 * Who may do what without being told so by anyone: the components of a cluster, and everybody. It follows upstream's
 * bootstrap policy (plugin/pkg/auth/authorizer/rbac/bootstrappolicy).
 */
export type Grant = ({ readonly user: string } | { readonly group: string }) & {
  /**
   * Each line: verbs, a space, resources as `plural.group/subresource`; both separated by commas. `read` is get, list
   * and watch; `change` is update and patch; `remove` is delete and deletecollection; `*` is every resource; before
   * a slash it stands for any that has the subresource, before a group for all that is in it.
   */
  readonly resources?: readonly string[]
  /** Paths outside the API's resources that may be read; a trailing `*` matches any rest. */
  readonly paths?: readonly string[]
}

const events = 'create,change events,events.events.k8s.io'
const leases = 'read,create,change leases.coordination.k8s.io'

/** A controller inside kube-controller-manager: a service account of kube-system. */
const controller = (name: string, ...resources: readonly string[]): Grant => ({
  user: `system:serviceaccount:kube-system:${name}`,
  resources: [...resources, events],
})

const healthPaths = ['/healthz', '/livez', '/readyz']
const publicPaths = [...healthPaths, '/version', '/version/']

export const builtInGrants: readonly Grant[] = [
  { group: 'system:unauthenticated', paths: publicPaths },
  {
    group: 'system:authenticated',
    paths: [...publicPaths, '/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*'],
    resources: [
      'create selfsubjectaccessreviews.authorization.k8s.io,selfsubjectrulesreviews.authorization.k8s.io',
      'create selfsubjectreviews.authentication.k8s.io',
    ],
  },

  {
    group: 'system:monitoring',
    paths: [...healthPaths, ...healthPaths.map((path) => `${path}/*`), '/metrics', '/metrics/slis'],
  },

  // Upstream's role system:service-account-issuer-discovery.
  {
    group: 'system:serviceaccounts',
    paths: openIdPaths.flatMap((path) => [path, `${path}/`]),
  },

  // The server's own work: namespaces it makes, events it expires.
  { user: 'system:apiserver', resources: ['read,create,change,remove *'], paths: ['*'] },

  {
    user: 'system:kube-controller-manager',
    resources: [
      'read *',
      'create,change,remove serviceaccounts,secrets,configmaps',
      'create serviceaccounts/token,tokenreviews.authentication.k8s.io,subjectaccessreviews.authorization.k8s.io',
      events,
      leases,
    ],
  },
  {
    user: 'system:kube-scheduler',
    resources: [
      'read nodes,namespaces,pods,services,replicationcontrollers,replicasets.apps,statefulsets.apps',
      'read persistentvolumes,persistentvolumeclaims,poddisruptionbudgets.policy,priorityclasses.scheduling.k8s.io',
      'read storageclasses.storage.k8s.io,csinodes.storage.k8s.io,csidrivers.storage.k8s.io',
      'read csistoragecapacities.storage.k8s.io',
      'change persistentvolumes,persistentvolumeclaims',
      'create pods/binding,bindings',
      'change pods/status',
      'remove pods',
      events,
      leases,
    ],
  },
  // One agent for all simulated nodes: no node of its own that the Node authorizer could hold it to.
  {
    user: 'system:simulated-nodes',
    resources: [
      'read pods,nodes',
      'get secrets,configmaps,persistentvolumeclaims,persistentvolumes',
      'create,change nodes',
      'change nodes/status,pods/status',
      'delete pods',
      'get,create,change leases.coordination.k8s.io',
      'create,change events',
    ],
  },

  controller(
    'replication-controller',
    'read,change replicationcontrollers',
    'change replicationcontrollers/status,replicationcontrollers/finalizers,replicationcontrollers/scale',
    'read,create,change,remove pods',
  ),
  controller(
    'replicaset-controller',
    'read,change replicasets.apps',
    'change replicasets.apps/status,replicasets.apps/finalizers',
    'read,create,change,remove pods',
  ),
  controller(
    'deployment-controller',
    'read,change deployments.apps',
    'change deployments.apps/status,deployments.apps/finalizers',
    'read,create,change,remove replicasets.apps',
    'read,change pods',
  ),
  controller(
    'statefulset-controller',
    'read,change statefulsets.apps',
    'change statefulsets.apps/status,statefulsets.apps/finalizers',
    'read,create,change,remove pods,controllerrevisions.apps,persistentvolumeclaims',
  ),
  controller(
    'daemon-set-controller',
    'read,change daemonsets.apps',
    'change daemonsets.apps/status,daemonsets.apps/finalizers',
    'read nodes',
    'create pods/binding',
    'read,create,change,remove pods,controllerrevisions.apps',
  ),
  controller(
    'job-controller',
    'read,change jobs.batch',
    'change jobs.batch/status,jobs.batch/finalizers',
    'read,create,change,remove pods',
  ),
  controller(
    'cronjob-controller',
    'read,change cronjobs.batch',
    'change cronjobs.batch/status,cronjobs.batch/finalizers',
    'read,create,change,remove jobs.batch',
    'read,remove pods',
  ),
  controller('ttl-after-finished-controller', 'read,remove jobs.batch'),
  controller(
    'horizontal-pod-autoscaler',
    'read,change horizontalpodautoscalers.autoscaling',
    'change horizontalpodautoscalers.autoscaling/status',
    'get,change */scale',
    'list pods,pods.metrics.k8s.io',
    'read apiservices.apiregistration.k8s.io',
    'get,list *.custom.metrics.k8s.io,*.external.metrics.k8s.io',
  ),
  controller(
    'disruption-controller',
    'read deployments.apps,replicasets.apps,statefulsets.apps,replicationcontrollers,pods',
    'read,change poddisruptionbudgets.policy',
    'change poddisruptionbudgets.policy/status,pods/status',
    'get */scale',
  ),
  controller(
    'endpoint-controller',
    'read services,pods',
    'read,create,change,remove endpoints',
    'create endpoints/restricted',
  ),
  controller(
    'endpointslice-controller',
    'read services,nodes,pods',
    'change services/finalizers',
    'read,create,change,remove endpointslices.discovery.k8s.io',
  ),
  controller(
    'endpointslicemirroring-controller',
    'read services,endpoints',
    'change endpoints/finalizers,services/finalizers',
    'read,create,change,remove endpointslices.discovery.k8s.io',
  ),
  controller('clusterrole-aggregation-controller', 'read,change clusterroles.rbac.authorization.k8s.io'),
  controller(
    'validatingadmissionpolicy-status-controller',
    'read validatingadmissionpolicies.admissionregistration.k8s.io,customresourcedefinitions.apiextensions.k8s.io',
    'change validatingadmissionpolicies.admissionregistration.k8s.io/status',
  ),
  controller(
    'service-cidrs-controller',
    'read,change servicecidrs.networking.k8s.io',
    'change servicecidrs.networking.k8s.io/status,servicecidrs.networking.k8s.io/finalizers',
    'read ipaddresses.networking.k8s.io',
  ),
  // These act on any kind there is: what they may do cannot be a list of kinds.
  controller(
    'custom-resource-definition',
    'change customresourcedefinitions.apiextensions.k8s.io/status',
    'read,remove *',
  ),
  controller('generic-garbage-collector', 'read,change,remove *'),
  controller('namespace-controller', 'read,change,remove *'),
  controller(
    'node-controller',
    'read,change,remove nodes',
    'change nodes/status,pods/status',
    'read,remove pods',
    'read daemonsets.apps',
  ),
  controller('pod-garbage-collector', 'read,remove pods', 'change pods/status', 'read nodes'),
  controller(
    'certificate-controller',
    'read,remove certificatesigningrequests.certificates.k8s.io',
    'change certificatesigningrequests.certificates.k8s.io/status,certificatesigningrequests.certificates.k8s.io/approval',
    'approve,sign signers.certificates.k8s.io',
    'create subjectaccessreviews.authorization.k8s.io',
  ),
  controller('service-account-controller', 'read namespaces', 'read,create,change serviceaccounts'),
  controller('root-ca-cert-publisher', 'read namespaces', 'read,create,change configmaps'),
  controller('resourcequota-controller', 'read *', 'change resourcequotas/status'),
  controller('pvc-protection-controller', 'read,change persistentvolumeclaims', 'read pods'),
  controller('pv-protection-controller', 'read,change persistentvolumes'),
  controller(
    'persistent-volume-binder',
    'read,create,change,remove persistentvolumes',
    'change persistentvolumes/status,persistentvolumeclaims/status',
    'read,change persistentvolumeclaims',
    'read storageclasses.storage.k8s.io,nodes',
    'read,create,remove pods',
  ),
  controller(
    'local-path-provisioner',
    'read namespaces,persistentvolumeclaims',
    'read,create,change,remove persistentvolumes',
    'read,create storageclasses.storage.k8s.io',
    'get,create configmaps',
  ),
  controller(
    'ephemeral-volume-controller',
    'read pods',
    'change pods/finalizers',
    'read,create persistentvolumeclaims',
  ),
]
