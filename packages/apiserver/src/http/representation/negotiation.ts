import { type Clause, clausesOf, matches, notAcceptable, requireServedType } from '../media-types.ts'

/** What an `Accept` header asks for. */
export interface Accepted {
  readonly format: 'json' | 'yaml' | 'protobuf'
  /** Undefined: the object itself. The version of meta.k8s.io is that of the answer's apiVersion. */
  readonly as?: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'
  /** Of discovery: everything in one document (KEP-3352). */
  readonly isAggregated?: true
  readonly metaVersion: 'v1' | 'v1beta1'
}

/**
 * What can be had: of objects of built-in kinds, of custom ones, of built-in kinds at paths of custom ones, such as their scale, of those that
 * are only posted and answered, such as reviews of rights, of what is no object of a kind, such as a Status, and of the kinds that there are.
 */
export type Offer = 'builtin' | 'custom' | 'part of custom' | 'posted' | 'plain' | 'discovery'

/** Media types of answers, the best known first. */
const formats = [
  ['application/json', 'json'],
  ['application/yaml', 'yaml'],
  ['application/vnd.kubernetes.protobuf', 'protobuf'],
] as const

export const mediaTypes: readonly string[] = formats.map(([type]) => type)

/** What streams of events are offered in. A stream of YAML documents is nothing upstream has. */
export const streamTypes = mediaTypes
  .filter((type) => type !== 'application/yaml')
  .map((type) => `${type};stream=watch`)

const plainJson: Accepted = { format: 'json', metaVersion: 'v1' }

/** Clients send few different headers, so what they mean is remembered: up to this many, none of them longer than clients' are. */
const rememberedMax = 256
const rememberedLengthMax = 1024
const remembered: Readonly<Record<Offer, Map<string, Accepted>>> = {
  builtin: new Map(),
  custom: new Map(),
  'part of custom': new Map(),
  posted: new Map(),
  plain: new Map(),
  discovery: new Map(),
}

/**
 * What an `Accept` header asks for: JSON where it says nothing. The first clause (by quality, then order) that can be
 * served wins; throws NotAcceptable (406) where none can. The rules are upstream's (apiserver's negotiation, after the one of
 * routes, which custom kinds and Statuses have not). `served` are the types that the route names.
 */
export function negotiate(accept: string | undefined, offer: Offer, served = mediaTypes): Accepted {
  if (accept === undefined || accept === '' || accept === 'application/json' || accept === '*/*') return plainJson
  const known = remembered[offer].get(accept)
  if (known !== undefined) return known
  if (offer === 'builtin' || offer === 'posted') requireServedType(accept, served)
  const accepted = clausesOf(accept)
    .map((clause) => acceptedBy(clause, offer))
    .find((each) => each !== undefined)
  if (accepted === undefined) throw notAcceptable(mediaTypes)
  if (accept.length > rememberedLengthMax) return accepted
  if (remembered[offer].size >= rememberedMax) remembered[offer].clear()
  remembered[offer].set(accept, accepted)
  return accepted
}

function acceptedBy(clause: Clause, offer: Offer): Accepted | undefined {
  const [, format] = formats.find(([type]) => matches(clause.type, type)) ?? []
  if (format === undefined) return undefined
  const { parameters } = clause
  const stream = parameters.get('stream') ?? ''
  if (stream !== '' && (stream !== 'watch' || format === 'yaml')) return undefined
  if (!parameters.has('as') && !parameters.has('g') && !parameters.has('v')) {
    // Messages of custom kinds have no numbers for their fields.
    return format === 'protobuf' && offer === 'custom' ? undefined : { format, metaVersion: 'v1' }
  }
  const as = parameters.get('as')
  const version = parameters.get('v')
  if (offer === 'plain') return undefined
  if (offer === 'discovery') {
    const isAggregated = as === 'APIGroupDiscoveryList' && parameters.get('g') === 'apidiscovery.k8s.io'
    return isAggregated && version === 'v2' ? { format, isAggregated, metaVersion: 'v1' } : undefined
  }
  if (parameters.get('g') !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return undefined
  if (as === 'Table') {
    return format === 'protobuf' || offer === 'posted' ? undefined : { format, as, metaVersion: version }
  }
  if (as !== 'PartialObjectMetadata' && as !== 'PartialObjectMetadataList') return undefined
  return { format, as, metaVersion: version }
}
