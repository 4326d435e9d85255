import { events, type RuleLine } from './rule-lines.ts'

/** A ClusterRole that every cluster has. */
export interface DefaultClusterRole {
  readonly name: string
  /** The role that is put together from it and others: `view` of `system:aggregate-to-view`. */
  readonly into?: string
  /** Its rules are those of all roles that go into this one. */
  readonly from?: string
  readonly rules?: readonly RuleLine[]
}

/** The default roles of people and of components of the cluster: bootstrappolicy/policy.go of upstream, at 1.36. */
export const componentRoles: readonly DefaultClusterRole[] = [
  { name: 'admin', from: 'admin' },
  { name: 'cluster-admin', rules: ['* * *', '* url *'] },
  { name: 'edit', into: 'admin', from: 'edit' },
  {
    name: 'system:aggregate-to-admin',
    into: 'admin',
    rules: [
      'create authorization.k8s.io localsubjectaccessreviews',
      'read,write rbac.authorization.k8s.io rolebindings,roles',
    ],
  },
  {
    name: 'system:aggregate-to-edit',
    into: 'edit',
    rules: [
      'read core pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy',
      'impersonate core serviceaccounts',
      'write core pods,pods/attach,pods/exec,pods/portforward,pods/proxy',
      'create core pods/eviction',
      'write core configmaps,persistentvolumeclaims,replicationcontrollers,replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy',
      'create core serviceaccounts/token',
      'write core,events.k8s.io events',
      'write apps daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,replicasets/scale,statefulsets,statefulsets/scale',
      'write autoscaling horizontalpodautoscalers',
      'write batch cronjobs,jobs',
      'write extensions daemonsets,deployments,deployments/rollback,deployments/scale,ingresses,networkpolicies,replicasets,replicasets/scale,replicationcontrollers/scale',
      'write policy poddisruptionbudgets',
      'write networking.k8s.io ingresses,networkpolicies',
      'read,write coordination.k8s.io leases',
      'write resource.k8s.io resourceclaims,resourceclaimtemplates',
    ],
  },
  {
    name: 'system:aggregate-to-view',
    into: 'view',
    rules: [
      'read core configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/status',
      'read core bindings,limitranges,namespaces/status,pods/log,pods/status,replicationcontrollers/status,resourcequotas,resourcequotas/status',
      'read core namespaces',
      'read core,events.k8s.io events',
      'read discovery.k8s.io endpointslices',
      'read apps controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,replicasets,replicasets/scale,replicasets/status,statefulsets,statefulsets/scale,statefulsets/status',
      'read autoscaling horizontalpodautoscalers,horizontalpodautoscalers/status',
      'read batch cronjobs,cronjobs/status,jobs,jobs/status',
      'read extensions daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,ingresses,ingresses/status,networkpolicies,replicasets,replicasets/scale,replicasets/status,replicationcontrollers/scale',
      'read policy poddisruptionbudgets,poddisruptionbudgets/status',
      'read networking.k8s.io ingresses,ingresses/status,networkpolicies',
      'read resource.k8s.io resourceclaims,resourceclaims/status,resourceclaimtemplates',
    ],
  },
  {
    name: 'system:auth-delegator',
    rules: ['create authentication.k8s.io tokenreviews', 'create authorization.k8s.io subjectaccessreviews'],
  },
  {
    name: 'system:basic-user',
    rules: [
      'create authorization.k8s.io selfsubjectaccessreviews,selfsubjectrulesreviews',
      'create authentication.k8s.io selfsubjectreviews',
    ],
  },
  {
    name: 'system:certificates.k8s.io:certificatesigningrequests:nodeclient',
    rules: ['create certificates.k8s.io certificatesigningrequests/nodeclient'],
  },
  {
    name: 'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
    rules: ['create certificates.k8s.io certificatesigningrequests/selfnodeclient'],
  },
  {
    name: 'system:certificates.k8s.io:kube-apiserver-client-approver',
    rules: ['approve certificates.k8s.io signers kubernetes.io/kube-apiserver-client'],
  },
  {
    name: 'system:certificates.k8s.io:kube-apiserver-client-kubelet-approver',
    rules: ['approve certificates.k8s.io signers kubernetes.io/kube-apiserver-client-kubelet'],
  },
  {
    name: 'system:certificates.k8s.io:kubelet-serving-approver',
    rules: ['approve certificates.k8s.io signers kubernetes.io/kubelet-serving'],
  },
  {
    name: 'system:certificates.k8s.io:legacy-unknown-approver',
    rules: ['approve certificates.k8s.io signers kubernetes.io/legacy-unknown'],
  },
  {
    name: 'system:discovery',
    rules: ['get url /api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,/version/'],
  },
  { name: 'system:heapster', rules: ['read core events,namespaces,nodes,pods', 'read extensions deployments'] },
  { name: 'system:kube-aggregator', rules: ['read core endpoints,services'] },
  {
    name: 'system:kube-controller-manager',
    rules: [
      events,
      'create coordination.k8s.io leases',
      'get,update coordination.k8s.io leases kube-controller-manager',
      'create core secrets,serviceaccounts',
      'delete core secrets',
      'get core configmaps,namespaces,secrets,serviceaccounts',
      'update core secrets,serviceaccounts',
      'create authentication.k8s.io tokenreviews',
      'create authorization.k8s.io subjectaccessreviews',
      'list,watch * *',
      'create core serviceaccounts/token',
    ],
  },
  { name: 'system:kube-dns', rules: ['list,watch core endpoints,services'] },
  {
    name: 'system:kube-scheduler',
    rules: [
      events,
      'create coordination.k8s.io leases',
      'read,update coordination.k8s.io leases kube-scheduler',
      'read,write coordination.k8s.io leasecandidates',
      'read core nodes',
      'read,delete core pods',
      'create core bindings,pods/binding',
      'change core pods/status',
      'read core replicationcontrollers,services',
      'read apps,extensions replicasets',
      'read apps statefulsets',
      'read policy poddisruptionbudgets',
      'read core persistentvolumeclaims,persistentvolumes',
      'create authentication.k8s.io tokenreviews',
      'create authorization.k8s.io subjectaccessreviews',
      'read storage.k8s.io csinodes',
      'read storage.k8s.io volumeattachments',
      'read core namespaces',
      'read storage.k8s.io csidrivers',
      'read storage.k8s.io csistoragecapacities',
      'read resource.k8s.io deviceclasses',
      'read,change resource.k8s.io resourceclaims',
      'read,change resource.k8s.io resourceclaims/status',
      'update core pods/finalizers',
      'read resource.k8s.io resourceslices',
      'create,delete resource.k8s.io resourceclaims',
      'change resource.k8s.io resourceclaims/binding',
    ],
  },
  {
    name: 'system:kubelet-api-admin',
    rules: [
      'read core nodes',
      'proxy core nodes',
      '* core nodes/log,nodes/metrics,nodes/proxy,nodes/stats',
      '* core nodes/configz,nodes/healthz,nodes/pods',
    ],
  },
  {
    name: 'system:monitoring',
    rules: [
      'get url /flagz,/healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*,/statusz',
      'get core nodes/metrics',
    ],
  },
  {
    name: 'system:node',
    rules: [
      'create authentication.k8s.io tokenreviews',
      'create authorization.k8s.io localsubjectaccessreviews,subjectaccessreviews',
      'read core services',
      'read,create core nodes',
      'change core nodes/status',
      'change core nodes',
      events,
      'read core pods',
      'create,delete core pods',
      'change core pods/status',
      'create core pods/eviction',
      'read core configmaps,secrets',
      'get core persistentvolumeclaims,persistentvolumes',
      'get core endpoints',
      'read,create certificates.k8s.io certificatesigningrequests',
      'create,change,delete,get coordination.k8s.io leases',
      'get storage.k8s.io volumeattachments',
      'create core serviceaccounts/token',
      'change,get core persistentvolumeclaims/status',
      'read storage.k8s.io csidrivers',
      'create,change,delete,get storage.k8s.io csinodes',
      'read node.k8s.io runtimeclasses',
      'get resource.k8s.io resourceclaims',
      'deletecollection resource.k8s.io resourceslices',
      'get core serviceaccounts',
    ],
  },
  { name: 'system:node-bootstrapper', rules: ['read,create certificates.k8s.io certificatesigningrequests'] },
  { name: 'system:node-problem-detector', rules: ['get core nodes', 'patch core nodes/status', events] },
  {
    name: 'system:node-proxier',
    rules: [
      'list,watch core endpoints,services',
      'read core nodes',
      events,
      'list,watch networking.k8s.io servicecidrs',
      'list,watch discovery.k8s.io endpointslices',
    ],
  },
  {
    name: 'system:persistent-volume-provisioner',
    rules: [
      'read,create,delete core persistentvolumes',
      'read,update core persistentvolumeclaims',
      'read storage.k8s.io storageclasses',
      'watch core events',
      events,
    ],
  },
  { name: 'system:public-info-viewer', rules: ['get url /healthz,/livez,/readyz,/version,/version/'] },
  {
    name: 'system:service-account-issuer-discovery',
    rules: [
      'get url /.well-known/openid-configuration,/.well-known/openid-configuration/,/openid/v1/jwks,/openid/v1/jwks/',
    ],
  },
  {
    name: 'system:volume-scheduler',
    rules: [
      'read,change core persistentvolumes',
      'read storage.k8s.io storageclasses',
      'read,change core persistentvolumeclaims',
    ],
  },
  { name: 'view', into: 'edit', from: 'view' },
]
