import { type Clause, clausesOf, matches, notAcceptable, offered } from '../media-types.ts'

/** What an `Accept` header asks for. */
export interface Accepted {
  readonly format: 'json' | 'yaml'
  /** Undefined: the object itself. The version of meta.k8s.io is that of the answer's apiVersion. */
  readonly as?: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'
  readonly metaVersion: 'v1' | 'v1beta1'
}

const plainJson: Accepted = { format: 'json', metaVersion: 'v1' }
const plainYaml: Accepted = { format: 'yaml', metaVersion: 'v1' }

/** Clients send few different headers, so what they mean is remembered, up to this many. */
const rememberedMax = 256
const remembered = new Map<string, Accepted>()

/**
 * What an `Accept` header asks for: JSON where it says nothing. The first clause (by quality, then order) that can be
 * served wins; throws NotAcceptable (406) where none can.
 */
export function negotiate(accept: string | undefined): Accepted {
  if (accept === undefined || accept === '' || accept === 'application/json' || accept === '*/*') return plainJson
  const known = remembered.get(accept)
  if (known !== undefined) return known
  const accepted = clausesOf(accept)
    .map(acceptedBy)
    .find((each) => each !== undefined)
  if (accepted === undefined) throw notAcceptable(offered)
  if (remembered.size >= rememberedMax) remembered.clear()
  remembered.set(accept, accepted)
  return accepted
}

function acceptedBy(clause: Clause): Accepted | undefined {
  const format = matches(clause.type, offered[0]) ? 'json' : clause.type === offered[1] ? 'yaml' : undefined
  if (format === undefined) return undefined
  const { parameters } = clause
  const stream = parameters.get('stream') ?? ''
  if (stream !== '' && stream !== 'watch') return undefined
  if (!parameters.has('as') && !parameters.has('g') && !parameters.has('v')) {
    return format === 'json' ? plainJson : plainYaml
  }
  const as = parameters.get('as')
  const version = parameters.get('v')
  if (parameters.get('g') !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return undefined
  if (as !== 'Table' && as !== 'PartialObjectMetadata' && as !== 'PartialObjectMetadataList') return undefined
  return { format, as, metaVersion: version }
}
