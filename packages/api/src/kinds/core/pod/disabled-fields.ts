import type { PodSpec } from './pod-spec.ts'
import type { PodTemplateSpec } from './pod-template.ts'
import type { VolumeProjection } from './projection.ts'

/** Projections that upstream has off by default: ClusterTrustBundleProjection and PodCertificateRequest. */
const projections = ['clusterTrustBundle', 'podCertificate'] as const

type Projection = (typeof projections)[number]

/**
 * A pod's spec without the fields that upstream has off by default and that nothing here acts on: projections of trust bundles and of
 * certificates, and the group it is scheduled with (GenericWorkload). What `old` has of them already may stay
 * (dropDisabledFields of upstream's pkg/api/pod). The same reference where there are none.
 */
export function withoutDisabledFields(spec: PodSpec, old?: PodSpec): PodSpec {
  const dropped = projections.filter((name) => hasProjection(spec, name) && !hasProjection(old, name))
  const grouped = spec.schedulingGroup === undefined || old?.schedulingGroup !== undefined
  if (dropped.length === 0 && grouped) return spec
  const { schedulingGroup: _dropped, ...rest } = spec
  return withoutProjections(grouped ? spec : rest, dropped)
}

/** The same of what makes pods, which has their template in its spec. */
export function withoutDisabledTemplateFields<
  T extends { readonly spec: { readonly template?: PodTemplateSpec | undefined } },
>(object: T, old?: T): T {
  const { template } = object.spec
  const enabled = enabledTemplate(template, old?.spec.template)
  return enabled === template ? object : { ...object, spec: { ...object.spec, template: enabled } }
}

/** A template without those fields. */
export function enabledTemplate<T extends PodTemplateSpec | undefined>(template: T, old?: PodTemplateSpec): T {
  const spec = template?.spec && withoutDisabledFields(template.spec, old?.spec)
  return spec === template?.spec ? template : { ...template, spec }
}

const sourcesIn = (spec: PodSpec | undefined): readonly VolumeProjection[] =>
  spec?.volumes?.flatMap(({ projected }) => projected?.sources ?? []) ?? []

const hasProjection = (spec: PodSpec | undefined, name: Projection): boolean =>
  sourcesIn(spec).some((source) => source[name] !== undefined)

function withoutProjections(spec: PodSpec, names: readonly Projection[]): PodSpec {
  if (names.length === 0 || spec.volumes === undefined) return spec
  const volumes = spec.volumes.map((volume) => {
    const { projected } = volume
    if (projected?.sources === undefined) return volume
    const sources = projected.sources.map((source) => {
      const kept = { ...source }
      for (const name of names) delete kept[name]
      return kept
    })
    return { ...volume, projected: { ...projected, sources } }
  })
  return { ...spec, volumes }
}
