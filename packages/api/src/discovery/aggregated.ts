import { metaV1 } from '../kinds/meta/names.ts'
import { listMeta, objectMeta } from '../meta.ts'
import { list, object, optional, required, string } from '../schema/builders.ts'

const apidiscoveryV2 = 'io.k8s.api.apidiscovery.v2'

const groupVersionKind = object(`${metaV1}.GroupVersionKind`, 'A kind in a version of a group.', {
  group: required(string(), 'The group.'),
  version: required(string(), 'The version.'),
  kind: required(string(), 'The kind.'),
})

const subresource = object(`${apidiscoveryV2}.APISubresourceDiscovery`, 'A subresource of a resource.', {
  subresource: required(string(), 'Its name in paths.'),
  responseKind: optional(groupVersionKind, 'What it answers with.'),
  acceptedTypes: optional(list(groupVersionKind), 'What it takes.'),
  verbs: required(list(string()), 'What may be done with it.'),
})

const resource = object(`${apidiscoveryV2}.APIResourceDiscovery`, 'A resource of the API.', {
  resource: required(string(), 'Its name in paths.'),
  responseKind: optional(groupVersionKind, 'What it answers with.'),
  scope: required(string(), 'Cluster or Namespaced.'),
  singularResource: required(string(), 'Its name for one object.'),
  verbs: required(list(string()), 'What may be done with it.'),
  shortNames: optional(list(string()), 'Short names of it.'),
  categories: optional(list(string()), 'Groups of resources it belongs to, such as all.'),
  subresources: optional(list(subresource), 'What there is under its objects.'),
})

const groupVersion = object(`${apidiscoveryV2}.APIVersionDiscovery`, 'A version of a group.', {
  version: required(string(), 'The version.'),
  resources: optional(list(resource), 'Its resources.'),
  freshness: optional(string(), 'Current, or Stale where the server behind it has not told them lately.'),
})

const group = object(`${apidiscoveryV2}.APIGroupDiscovery`, 'A group of the API.', {
  metadata: optional(objectMeta, 'Its name.'),
  versions: optional(list(groupVersion), 'Its versions, the preferred one first.'),
})

/** All groups with their versions and resources, as `/api` and `/apis` tell them at once (KEP-3352). */
export const apiGroupDiscoveryListSchema = object(
  `${apidiscoveryV2}.APIGroupDiscoveryList`,
  'The groups of the API with all that is in them.',
  {
    apiVersion: optional(string(), 'Version of the schema it is written in.'),
    kind: optional(string(), 'What it is.'),
    metadata: optional(listMeta, 'Empty.'),
    items: required(list(group), 'The groups.'),
  },
)
