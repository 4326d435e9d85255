import { listMeta, objectMeta } from '../../meta.ts'
import { list, object, optional, required, string } from '../../schema/builders.ts'
import { metaV1 } from './names.ts'

const typeMeta = {
  apiVersion: optional(string(), 'Version of the schema it is written in.'),
  kind: optional(string(), 'What it is.'),
}

/** The schema of `PartialObjectMetadata` in `../../table.ts`. */
export const partialObjectMetadataSchema = object(
  `${metaV1}.PartialObjectMetadata`,
  'An object without all but its metadata.',
  { ...typeMeta, metadata: optional(objectMeta, 'What every stored object carries.', { default: {} }) },
)

/** The schema of `PartialObjectMetadataList` in `../../table.ts`. */
export const partialObjectMetadataListSchema = object(
  `${metaV1}.PartialObjectMetadataList`,
  'A list of objects without all but their metadata.',
  {
    ...typeMeta,
    metadata: optional(listMeta, 'What every list carries.', { default: {} }),
    items: required(list(partialObjectMetadataSchema), 'The objects.'),
  },
)
