import {
  type Container,
  compareText,
  configMaps,
  containerResourceValue,
  type EnvVar,
  type EnvVarSource,
  metadataFieldValue,
  type PodSpec,
  secrets,
} from '@coracle/api'
import type { Host } from '../../host.ts'
import type { Session } from '../../session.ts'
import type { Target } from '../targets.ts'
import { allContainers } from './pod-templates.ts'

/** Variables with the values that their references have now. Those that have none stay references, and standard error says why. */
export async function resolveEnvironment(
  { stderr }: Host,
  session: Session,
  target: Target,
  template: PodSpec,
  container: Container,
): Promise<Container> {
  const problems: string[] = []
  const env: EnvVar[] = []
  for (const variable of container.env ?? []) {
    const { name, valueFrom } = variable
    if (valueFrom === undefined) {
      env.push(variable)
      continue
    }
    try {
      env.push({ name, value: await referredValue(session, target, template, container, valueFrom) })
    } catch (error) {
      env.push(variable)
      problems.push(`error retrieving reference for ${name}: ${error instanceof Error ? error.message : error}\n`)
    }
  }
  for (const problem of problems.toSorted(compareText)) stderr.write(problem)
  return { ...container, env }
}

async function referredValue(
  { client, namespace }: Session,
  { object }: Target,
  template: PodSpec,
  container: Container,
  { configMapKeyRef, secretKeyRef, fieldRef, resourceFieldRef }: EnvVarSource,
): Promise<string> {
  if (configMapKeyRef !== undefined) {
    const { name = '', key } = configMapKeyRef
    const { data } = await client.get(configMaps, { namespace, name })
    return present(data?.[key], `key ${key} not found in config map ${name}`)
  }
  if (secretKeyRef !== undefined) {
    const { name = '', key } = secretKeyRef
    const { data } = await client.get(secrets, { namespace, name })
    const value = present(data?.[key], `key ${key} not found in secret ${name}`)
    return Buffer.from(value, 'base64').toString('utf8')
  }
  if (fieldRef !== undefined) {
    const { fieldPath } = fieldRef
    return present(metadataFieldValue(fieldPath, object.metadata), `unsupported fieldPath: ${fieldPath}`)
  }
  if (resourceFieldRef === undefined) throw new Error('a reference to nothing that is known here')
  const { containerName } = resourceFieldRef
  const named = allContainers(template).find(({ name }) => name === containerName) ?? container
  return containerResourceValue(resourceFieldRef, named)
}

function present(value: string | undefined, otherwise: string): string {
  if (value === undefined) throw new Error(otherwise)
  return value
}
