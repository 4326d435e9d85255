/** The numbers of fields in protobuf, see `../protobuf-messages.ts`. */
export const rbacMessages = {
  'io.k8s.api.rbac.v1beta1': `
ClusterRole: metadata rules aggregationRule
ClusterRoleBinding: metadata subjects roleRef
Role: metadata rules
RoleBinding: metadata subjects roleRef
`,
  'io.k8s.api.rbac.v1': `
AggregationRule: clusterRoleSelectors
ClusterRole: metadata rules aggregationRule
ClusterRoleBinding: metadata subjects roleRef
PolicyRule: verbs apiGroups resources resourceNames nonResourceURLs
Role: metadata rules
RoleBinding: metadata subjects roleRef
RoleRef: apiGroup kind name
Subject: kind apiGroup name namespace
`,
} as const
