/** The oldest form of the API, v1beta1, on its way in. */
import { type FieldError, invalidField, requiredField } from '../field-error.ts'
import { FieldPath } from '../field-path.ts'
import { isJsonObject, member } from '../json.ts'
import { selectorFromMap } from '../selectors.ts'
import { invalid } from '../status.ts'
import { checkFormat } from '../string-formats.ts'
import { ignored, integer, mapOf, objectOf, present, type Report, text } from './reading.ts'
import { manifest } from './v1beta1-manifest.ts'

/**
 * A v1beta1 ReplicationController as a v1 one; anything else as it is. Throws an ApiError (422 Invalid) that names the
 * fields at fault by their paths in the v1beta1 form, unknown fields among them.
 */
export function convertLegacy(value: unknown): unknown {
  if (!isJsonObject(value)) return value
  const isLegacy = member(value, 'apiVersion') === 'v1beta1' && member(value, 'kind') === 'ReplicationController'
  return isLegacy ? convertReplicationController(value) : value
}

const labels = mapOf(text)

const podTemplate = objectOf({
  desiredState: objectOf({
    manifest,
    host: text,
    // The state of a pod had these; in a template they say nothing.
    status: ignored,
    hostIP: ignored,
    podIP: ignored,
    info: ignored,
  }),
  labels,
  annotations: labels,
  nodeSelector: labels,
})

const controllerState = objectOf({ replicas: integer, replicaSelector: labels, podTemplate })

const controller = objectOf({
  apiVersion: text,
  kind: text,
  id: text,
  namespace: text,
  labels,
  annotations: labels,
  desiredState: controllerState,
  // Given by the server: a file that was read back has them.
  uid: ignored,
  creationTimestamp: ignored,
  selfLink: ignored,
  resourceVersion: ignored,
  currentState: ignored,
})

type Controller = NonNullable<ReturnType<typeof controller>>
type ControllerState = NonNullable<ReturnType<typeof controllerState>>
type PodTemplate = NonNullable<ReturnType<typeof podTemplate>>

function convertReplicationController(value: unknown): unknown {
  const errors: FieldError[] = []
  const report: Report = (error) => errors.push(error)
  const read = controller(value, FieldPath.root, report) ?? {}
  // What is missing because it could not be read has been reported already.
  if (errors.length === 0) checkController(read, report)
  if (errors.length > 0) throw invalid({ group: '', kind: 'ReplicationController' }, read.id ?? '', errors)
  return {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: present({
      name: read.id,
      namespace: read.namespace,
      labels: read.labels,
      annotations: read.annotations,
    }),
    spec: present({
      replicas: read.desiredState?.replicas,
      selector: read.desiredState?.replicaSelector,
      template: read.desiredState?.podTemplate && convertTemplate(read.desiredState.podTemplate),
    }),
  }
}

function convertTemplate({ labels: podLabels, annotations, nodeSelector, desiredState }: PodTemplate): unknown {
  return present({
    metadata: present({ labels: podLabels, annotations }),
    spec: present({ ...desiredState?.manifest, nodeSelector, nodeName: desiredState?.host }),
  })
}

function checkController({ id, desiredState }: Controller, report: Report): void {
  const path = FieldPath.root.field('id')
  if (id === undefined || id === '') report(requiredField(path))
  else for (const problem of checkFormat('dns1035-label', id)) report(invalidField(path, id, problem))
  checkState(desiredState ?? {}, FieldPath.root.field('desiredState'), report)
}

function checkState(state: ControllerState, path: FieldPath, report: Report): void {
  const { replicas, replicaSelector, podTemplate: template } = state
  if (replicas !== undefined && replicas < 0) {
    report(invalidField(path.field('replicas'), replicas, 'must be greater than or equal to 0'))
  }
  if (template === undefined) {
    report(requiredField(path.field('podTemplate')))
    return
  }
  if (template.desiredState?.manifest === undefined) {
    report(requiredField(path.field('podTemplate').field('desiredState').field('manifest')))
  }
  if (!selectorFromMap(replicaSelector).matches(template.labels)) {
    const why = '`replicaSelector` does not match `podTemplate.labels`'
    report(invalidField(path.field('replicaSelector'), replicaSelector, why))
  }
}
