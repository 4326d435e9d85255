import { deepEqual } from '../../../equality.ts'
import { FieldPath } from '../../../field-path.ts'
import { mapShared } from '../../../schema/with-fields.ts'
import { ipWarnings } from '../../address-warnings.ts'
import { ageColumn, column, nameColumn } from '../../columns.ts'
import { kind } from '../../kind.ts'
import { type Endpoint, type EndpointSlice, endpointSliceSchema } from './endpoint-slice-schema.ts'
import { validateEndpointSlice, validateEndpointSliceUpdate } from './endpoint-slice-validation.ts'

/** How many ports or addresses a table shows. */
const shownMax = 3

function shown(all: readonly string[]): string {
  const text = all.slice(0, shownMax).join(',')
  return all.length > shownMax ? `${text} + ${all.length - shownMax} more...` : text || '<unset>'
}

/** The first version's way to say where an endpoint is can be kept in this one, but not set. */
function withoutNewTopology(slice: EndpointSlice, old: EndpointSlice | undefined): EndpointSlice {
  const kept = old?.endpoints ?? []
  const endpoints = mapShared(slice.endpoints, (each): Endpoint => {
    const { deprecatedTopology, ...rest } = each
    if (deprecatedTopology === undefined) return each
    return kept.some((other) => deepEqual(other.deprecatedTopology, deprecatedTopology)) ? each : rest
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
  countsGenerations: true,
  prepareForCreate: (slice) => withoutNewTopology(slice, undefined),
  prepareForUpdate: (slice, old) => withoutNewTopology(slice, old),
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
