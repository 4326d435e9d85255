import { metaV1 } from '../kinds/meta/names.ts'
import { atomicList, boolean, list, object, optional, required, string } from '../schema/builders.ts'

const serverAddress = object(`${metaV1}.ServerAddressByClientCIDR`, 'Where clients of a network reach the server.', {
  clientCIDR: required(string(), 'The network of the clients.'),
  serverAddress: required(string(), 'The address of the server.'),
})

const groupVersion = object(`${metaV1}.GroupVersionForDiscovery`, 'A version of a group.', {
  groupVersion: required(string(), 'The group with the version.'),
  version: required(string(), 'The version.'),
})

const typeMeta = {
  apiVersion: optional(string(), 'Version of the schema it is written in.'),
  kind: optional(string(), 'What it is.'),
}

/** What the server says of one group, as `/apis/apps` does. */
export const apiGroupSchema = object(`${metaV1}.APIGroup`, 'A group of the API and its versions.', {
  ...typeMeta,
  name: required(string(), 'The name of the group.'),
  versions: required(atomicList(groupVersion), 'Its versions.'),
  preferredVersion: optional(groupVersion, 'The version that clients should use.'),
  serverAddressByClientCIDRs: optional(atomicList(serverAddress), 'Where clients reach it.'),
})

/** The groups of the server, as `/apis` has them. */
export const apiGroupListSchema = object(`${metaV1}.APIGroupList`, 'The groups of the API.', {
  ...typeMeta,
  groups: required(atomicList(apiGroupSchema), 'The groups.'),
})

/** The versions of the first group, as `/api` has them. */
export const apiVersionsSchema = object(`${metaV1}.APIVersions`, 'The versions of the first group of the API.', {
  ...typeMeta,
  versions: required(atomicList(string()), 'The versions.'),
  serverAddressByClientCIDRs: required(atomicList(serverAddress), 'Where clients reach them.'),
})

const apiResource = object(`${metaV1}.APIResource`, 'A resource of the API.', {
  name: required(string(), 'Its name in paths.'),
  singularName: required(string(), 'Its name for one object.'),
  namespaced: required(boolean, 'Whether its objects are in namespaces.'),
  group: optional(string(), 'The group of what it exchanges, where that is another.'),
  version: optional(string(), 'The version of what it exchanges, where that is another.'),
  kind: required(string(), 'The kind of its objects.'),
  verbs: required(list(string()), 'What may be done with it.'),
  shortNames: optional(atomicList(string()), 'Short names of it.'),
  categories: optional(atomicList(string()), 'Groups of resources it belongs to, such as all.'),
  storageVersionHash: optional(string(), 'Changes with the version its objects are stored in.'),
})

/** The resources of a version, as `/apis/apps/v1` has them. */
export const apiResourceListSchema = object(`${metaV1}.APIResourceList`, 'The resources of a version of a group.', {
  ...typeMeta,
  groupVersion: required(string(), 'The group with the version.'),
  resources: required(atomicList(apiResource), 'The resources.'),
})
