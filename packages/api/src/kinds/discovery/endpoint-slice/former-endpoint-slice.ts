/** discovery.k8s.io/v1beta1, in which an endpoint says where it is by labels of its node. */
import { isJsonObject, type JsonObject } from '../../../json.ts'
import type { KubernetesObject } from '../../../meta.ts'
import { atomicList, object, optional, stringMap } from '../../../schema/builders.ts'
import type { ObjectSchema } from '../../../schema/schema.ts'
import { endpoint, endpointSliceSchema } from './endpoint-slice-schema.ts'

const name = 'io.k8s.api.discovery.v1beta1'
const zoneLabel = 'topology.kubernetes.io/zone'
const hostnameLabel = 'kubernetes.io/hostname'

const { deprecatedTopology: _topology, zone: _zone, ...sameFields } = endpoint.fields
const formerEndpoint = object(`${name}.Endpoint`, endpoint.doc, {
  ...sameFields,
  topology: optional(stringMap, 'Where it is, as labels of its node say.'),
})

export const formerEndpointSliceSchema: ObjectSchema<KubernetesObject> = {
  ...endpointSliceSchema,
  name: `${name}.EndpointSlice`,
  fields: {
    ...endpointSliceSchema.fields,
    endpoints: optional(atomicList(formerEndpoint), 'The endpoints. At most 1000.'),
  },
} as unknown as ObjectSchema<KubernetesObject>

/** A zone and a node are fields of their own in the hub, which keeps no other labels of what is new. */
export function endpointSliceToHub(slice: JsonObject): JsonObject {
  return withEndpoints(slice, ({ topology, ...rest }) => {
    if (!isJsonObject(topology)) return rest
    const { [hostnameLabel]: nodeName, [zoneLabel]: zone } = topology
    return {
      ...(nodeName === undefined ? {} : { nodeName }),
      ...rest,
      ...(zone === undefined ? {} : { zone }),
    }
  })
}

export function endpointSliceFromHub(slice: JsonObject): JsonObject {
  return withEndpoints(slice, ({ deprecatedTopology, zone, ...rest }) => {
    const topology = {
      ...(isJsonObject(deprecatedTopology) ? deprecatedTopology : {}),
      ...(zone === undefined ? {} : { [zoneLabel]: zone }),
    }
    return Object.keys(topology).length === 0 ? rest : { ...rest, topology }
  })
}

function withEndpoints(slice: JsonObject, convert: (endpoint: JsonObject) => JsonObject): JsonObject {
  const { endpoints } = slice
  if (!Array.isArray(endpoints)) return slice
  return { ...slice, endpoints: endpoints.map((each: unknown) => (isJsonObject(each) ? convert(each) : each)) }
}
