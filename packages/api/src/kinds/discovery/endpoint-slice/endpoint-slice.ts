import { deepEqual } from '../../../equality.ts'
import { FieldPath } from '../../../field-path.ts'
import { mapShared } from '../../../schema/with-fields.ts'
import { checkFormat } from '../../../string-formats.ts'
import { ipWarnings } from '../../address-warnings.ts'
import { ageColumn, column, nameColumn } from '../../columns.ts'
import { kind } from '../../kind.ts'
import { type Endpoint, type EndpointSlice, endpointSliceSchema } from './endpoint-slice-schema.ts'
import { hostnameLabelKey, validateEndpointSlice, validateEndpointSliceUpdate } from './endpoint-slice-validation.ts'

/** How many ports or addresses a table shows. */
const shownMax = 3

function shown(all: readonly string[]): string {
  const text = all.slice(0, shownMax).join(',')
  return all.length > shownMax ? `${text} + ${all.length - shownMax} more...` : text || '<unset>'
}

const hostnameOf = ({ deprecatedTopology }: Endpoint): string | undefined => deprecatedTopology?.[hostnameLabelKey]

/**
 * The first version's way to say where an endpoint is stays as long as the endpoints do, and goes with the first change of them. The
 * node that it named is then in the field for it (dropTopologyOnV1).
 */
function withoutTopology(slice: EndpointSlice, old: EndpointSlice | undefined): EndpointSlice {
  if (old !== undefined && deepEqual(slice.endpoints ?? [], old.endpoints ?? [])) return slice
  const known = new Set(old?.endpoints?.map(hostnameOf))
  const endpoints = mapShared(slice.endpoints, (each): Endpoint => {
    const { deprecatedTopology, ...rest } = each
    if (deprecatedTopology === undefined) return each
    const node = hostnameOf(each)
    const isKnown = node !== undefined && known.has(node) && checkFormat('dns1123-subdomain', node).length === 0
    return isKnown && each.nodeName === undefined ? { ...rest, nodeName: node } : rest
  })
  return endpoints === slice.endpoints ? slice : { ...slice, endpoints }
}

/** Controllers that write addresses as usual. */
const ownManagers = ['endpointslice-controller.k8s.io', 'endpointslicemirroring-controller.k8s.io']

/** `discovery.k8s.io/v1` endpointslices. */
export const endpointSlices = kind<EndpointSlice>(endpointSliceSchema, {
  plural: 'endpointslices',
  columns: [
    nameColumn,
    column('AddressType', ({ addressType }) => addressType, { field: 'addressType' }),
    column('Ports', ({ ports = [] }) => shown(ports.map(({ name, port }) => String(port ?? name ?? '*'))), {
      field: 'ports',
    }),
    column('Endpoints', ({ endpoints = [] }) => shown(endpoints.flatMap(({ addresses }) => addresses)), {
      field: 'endpoints',
    }),
    ageColumn,
  ],
  countsGenerations: 'with-labels',
  prepareForCreate: (slice) => withoutTopology(slice, undefined),
  prepareForUpdate: (slice, old) => withoutTopology(slice, old),
  validate: validateEndpointSlice,
  validateUpdate: validateEndpointSliceUpdate,
  warnings: ({ metadata, addressType, endpoints = [] }, old) => [
    ...(addressType === 'FQDN' && old === undefined ? ['spec.addressType: FQDN endpoints are deprecated'] : []),
    ...(ownManagers.includes(metadata.labels?.['endpointslice.kubernetes.io/managed-by'] ?? '')
      ? []
      : endpoints.flatMap(({ addresses }, index) =>
          addresses.flatMap((address, at) =>
            ipWarnings(address, FieldPath.of('endpoints').index(index).field('addresses').index(at)),
          ),
        )),
  ],
})
