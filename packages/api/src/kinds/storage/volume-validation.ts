/** The checks of volumes and their attachments, to be loaded with the first of them: `volume-checks.ts`. */
export { validatePersistentVolume, validatePersistentVolumeUpdate } from '../core/persistent-volume/validation.ts'
export {
  validateAttachment,
  validateAttachmentStatus,
  validateAttachmentUpdate,
} from './volume-attachment-validation.ts'
