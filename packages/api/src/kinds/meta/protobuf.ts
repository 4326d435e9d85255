/** The numbers of fields in protobuf, see `../protobuf-messages.ts`. */
export const metaMessages = {
  'io.k8s.apimachinery.pkg.apis.meta.v1': `
APIGroup: name versions preferredVersion serverAddressByClientCIDRs
APIGroupList: groups
APIResource: name namespaced kind ...Verbs shortNames singularName categories group version storageVersionHash
APIResourceList: groupVersion resources
APIVersions: versions serverAddressByClientCIDRs
Condition: type status observedGeneration lastTransitionTime! reason message
DeleteOptions: gracePeriodSeconds preconditions orphanDependents propagationPolicy dryRun
  ignoreStoreReadErrorWithClusterBreakingPotential
FieldSelectorRequirement: key operator values
GroupVersionForDiscovery: groupVersion version
GroupVersionKind: group version kind
LabelSelector: matchLabels matchExpressions
LabelSelectorRequirement: key operator values
ListMeta: selfLink resourceVersion continue remainingItemCount shardInfo
ManagedFieldsEntry: manager operation apiVersion time 6:fieldsType fieldsV1 subresource
ObjectMeta: name generateName namespace selfLink uid resourceVersion generation creationTimestamp! deletionTimestamp
  deletionGracePeriodSeconds labels annotations ownerReferences finalizers 17:managedFields
OwnerReference: kind 3:name uid apiVersion controller blockOwnerDeletion
PartialObjectMetadata: metadata
PartialObjectMetadataList: metadata items
Preconditions: uid resourceVersion
ShardInfo: selector
ServerAddressByClientCIDR: clientCIDR serverAddress
Status: metadata status message reason details code
StatusCause: reason message field
StatusDetails: name group kind causes retryAfterSeconds uid
Verbs: verbs
WatchEvent: type object
`,
  'io.k8s.api.apidiscovery.v2': `
APIGroupDiscovery: metadata versions
APIGroupDiscoveryList: metadata items
APIResourceDiscovery: resource responseKind scope singularResource verbs shortNames categories subresources
APISubresourceDiscovery: subresource responseKind acceptedTypes verbs
APIVersionDiscovery: version resources freshness
`,
} as const
