import { boolean, object, optional, pointer, required, string } from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { coreV1 } from '../../meta/names.ts'
import { resourceFieldSelector } from './resources.ts'

export interface ObjectFieldSelector extends Infer<typeof objectFieldSelector> {}
export const objectFieldSelector = object(
  `${coreV1}.ObjectFieldSelector`,
  'A field of the pod, as a value.',
  {
    apiVersion: optional(string(), 'Version of the schema the path is written for.', { default: 'v1' }),
    fieldPath: required(string(), "Path of the field, such as metadata.name or metadata.labels['app'].", {
      default: '',
    }),
  },
  { mapType: 'atomic' },
)

export interface ConfigMapKeySelector extends Infer<typeof configMapKeySelector> {}
export const configMapKeySelector = object(
  `${coreV1}.ConfigMapKeySelector`,
  'One key of a ConfigMap.',
  {
    name: optional(string(), 'Name of the ConfigMap.'),
    key: required(string(), 'The key.', { default: '' }),
    optional: pointer(boolean, 'Go on without it where the ConfigMap or its key is missing.'),
  },
  { mapType: 'atomic' },
)

export interface SecretKeySelector extends Infer<typeof secretKeySelector> {}
export const secretKeySelector = object(
  `${coreV1}.SecretKeySelector`,
  'One key of a Secret.',
  {
    name: optional(string(), 'Name of the Secret.'),
    key: required(string(), 'The key.', { default: '' }),
    optional: pointer(boolean, 'Go on without it where the Secret or its key is missing.'),
  },
  { mapType: 'atomic' },
)

export interface FileKeySelector extends Infer<typeof fileKeySelector> {}
export const fileKeySelector = object(
  `${coreV1}.FileKeySelector`,
  'One key of a file of variables that a volume holds.',
  {
    volumeName: required(string(), 'Name of the volume.'),
    path: required(string(), 'Path of the file in the volume; relative, without `..`.'),
    key: required(string(), 'The key in the file.'),
    optional: pointer(boolean, 'Go on without it where the file or its key is missing.', { default: false }),
  },
  { mapType: 'atomic' },
)

export interface EnvVarSource extends Infer<typeof envVarSource> {}
export const envVarSource = object(
  `${coreV1}.EnvVarSource`,
  'Where the value of a variable comes from: exactly one of these.',
  {
    fieldRef: optional(objectFieldSelector, 'A field of the pod.'),
    resourceFieldRef: optional(resourceFieldSelector, 'A resource of a container.'),
    configMapKeyRef: optional(configMapKeySelector, 'A key of a ConfigMap.'),
    secretKeyRef: optional(secretKeySelector, 'A key of a Secret.'),
    fileKeyRef: optional(fileKeySelector, 'A key of a file in a volume.'),
  },
)

export interface EnvVar extends Infer<typeof envVar> {}
export const envVar = object(`${coreV1}.EnvVar`, 'An environment variable of a container.', {
  name: required(string(), 'Name of the variable: printable ASCII without `=`.'),
  value: optional(string(), 'Its value. $(NAME) stands for an earlier variable, $$(NAME) for the text itself.'),
  valueFrom: optional(envVarSource, 'Where its value comes from, instead of value.'),
})

export interface ConfigMapEnvSource extends Infer<typeof configMapEnvSource> {}
export const configMapEnvSource = object(`${coreV1}.ConfigMapEnvSource`, 'All keys of a ConfigMap.', {
  name: optional(string(), 'Name of the ConfigMap.'),
  optional: pointer(boolean, 'Go on without it where the ConfigMap is missing.'),
})

export interface SecretEnvSource extends Infer<typeof secretEnvSource> {}
export const secretEnvSource = object(`${coreV1}.SecretEnvSource`, 'All keys of a Secret.', {
  name: optional(string(), 'Name of the Secret.'),
  optional: pointer(boolean, 'Go on without it where the Secret is missing.'),
})

export interface EnvFromSource extends Infer<typeof envFromSource> {}
export const envFromSource = object(`${coreV1}.EnvFromSource`, 'Variables from a whole ConfigMap or Secret.', {
  prefix: optional(string(), 'Put before the name of each variable.'),
  configMapRef: optional(configMapEnvSource, 'The ConfigMap to take them from.'),
  secretRef: optional(secretEnvSource, 'The Secret to take them from.'),
})
