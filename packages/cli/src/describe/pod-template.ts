import { compareText, type PodTemplateSpec, type Toleration } from '@coracle/api'
import { describeContainers } from './containers.ts'
import type { Description } from './description.ts'
import { describeAnnotations, describeLabels } from './metadata.ts'
import { describeSchedulingGroup } from './scheduling-group.ts'
import { describeTopologySpread } from './topology-spread.ts'
import { describeVolumes } from './volumes.ts'

/** The template of pods, as it stands in the description of what makes them. */
export function describePodTemplate(text: Description, template: PodTemplateSpec | undefined): void {
  if (template === undefined) {
    text.heading(0, 'Pod Template').part('  <unset>')
    return
  }
  const { metadata, spec } = template
  text.heading(0, 'Pod Template')
  describeLabels(text, 1, 'Labels', metadata?.labels)
  if (Object.keys(metadata?.annotations ?? {}).length > 0) describeAnnotations(text, 1, metadata?.annotations)
  if (spec.serviceAccountName) text.field(1, 'Service Account', spec.serviceAccountName)
  if ((spec.initContainers ?? []).length > 0) {
    describeContainers(text, { label: 'Init Containers', containers: spec.initContainers ?? [], indent: '  ' })
  }
  describeContainers(text, { label: 'Containers', containers: spec.containers ?? [], indent: '  ' })
  describeVolumes(text, spec.volumes, '  ')
  describeTopologySpread(text, 1, spec.topologySpreadConstraints)
  if (spec.priorityClassName) text.field(1, 'Priority Class Name', spec.priorityClassName)
  describeLabels(text, 1, 'Node-Selectors', spec.nodeSelector)
  describeTolerations(text, 1, spec.tolerations)
  describeSchedulingGroup(text, 1, spec.schedulingGroup)
}

export function describeTolerations(text: Description, level: number, tolerations: readonly Toleration[] = []): void {
  const sorted = tolerations.toSorted((a, b) => compareText(a.key ?? '', b.key ?? ''))
  text.lines(level, 'Tolerations', sorted.map(tolerationText))
}

/** `node.kubernetes.io/not-ready:NoExecute op=Exists for 300s` */
function tolerationText({ key = '', value = '', effect = '', operator = '', tolerationSeconds }: Toleration): string {
  const head = `${key}${value === '' ? '' : `=${value}`}${effect === '' ? '' : `:${effect}`}`
  // Exists is the operator that says something; a value implies Equal.
  const op = operator === 'Exists' && value === '' ? `${key === '' && effect === '' ? '' : ' '}op=Exists` : ''
  return `${head}${op}${tolerationSeconds === undefined ? '' : ` for ${tolerationSeconds}s`}`
}
