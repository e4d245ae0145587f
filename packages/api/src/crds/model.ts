/** `BaseModel` and `ClusterBaseModel`: what a model is and where its weights are. */
import { type CustomResourceDefinition, defineResource, type PrinterColumn } from './definition.js';
import { conditions } from './kubernetes.js';
import {
  about,
  atomicMapOf,
  bool,
  int32,
  int64,
  list,
  mapOf,
  named,
  object,
  oneOf,
  preserved,
  type StructuralSchema,
  str,
  time,
} from './schema.js';

const versioned = {
  name: str(),
  version: str(),
  operator: about('How versions are compared.', str({ default: 'Equal' })),
  weight: int64({ default: 1 }),
} as const;

/** A weight format such as safetensors. */
export const modelFormat: StructuralSchema = named('ModelFormat', object(versioned, ['name']));
/** The library a model was made with. */
export const modelFramework: StructuralSchema = named('ModelFramework', object(versioned, ['name']));

const diffusionPart = named('DiffusionPart', object({ library: str(), type: str() }));

/** The parts of a diffusion model. */
export const diffusionPipeline: StructuralSchema = named(
  'DiffusionPipeline',
  object({
    className: str(),
    scheduler: diffusionPart,
    textEncoder: diffusionPart,
    tokenizer: diffusionPart,
    transformer: diffusionPart,
    vae: diffusionPart,
    additionalComponents: atomicMapOf(diffusionPart),
  }),
);

const storage = named(
  'ModelStorage',
  object(
    {
      storageUri: about('Where the weights come from: hf://, oci://, pvc://, s3:// and others.', str()),
      path: about('Where a node keeps them.', str()),
      schemaPath: str(),
      key: about('Secret with the token for the source.', str()),
      parameters: mapOf(str()),
      nodeSelector: about('Nodes that keep a copy.', atomicMapOf(str())),
      nodeAffinity: preserved(),
      downloadPolicy: about(
        'ReuseIfExists shares files that a node already has.',
        oneOf('AlwaysDownload', 'ReuseIfExists'),
      ),
    },
    ['storageUri'],
  ),
);

const spec = named(
  'BaseModelSpec',
  object(
    {
      displayName: str(),
      version: str(),
      vendor: str(),
      compartmentID: str(),
      disabled: about('True keeps services from using the model.', bool()),
      storage,
      modelFormat,
      modelFramework,
      modelType: str(),
      modelArchitecture: str(),
      modelParameterSize: about('Size such as 7B.', str()),
      quantization: str(),
      modelCapabilities: list(str()),
      apiCapabilities: list(str()),
      modelConfiguration: preserved(),
      distribution: oneOf('PerNode', 'Sharded'),
      servingMode: list(str()),
      maxTokens: int32(),
      diffusionPipeline,
      additionalMetadata: mapOf(str()),
    },
    ['storage'],
  ),
);

const status = named(
  'BaseModelStatus',
  object(
    {
      state: oneOf('Creating', 'Importing', 'In_Transit', 'In_Training', 'Ready', 'Failed', 'Evicted'),
      lifecycle: str(),
      observedGeneration: int64(),
      lastReconcileTime: time(),
      nodesReady: list(str()),
      nodesFailed: list(str()),
      nodesEvicted: list(str()),
      conditions,
      cache: named('ModelCacheStatus', object({ backend: str(), sourceUri: str() })),
    },
    ['state'],
  ),
);

const columns: readonly PrinterColumn[] = [
  { name: 'Disabled', type: 'boolean', jsonPath: '.spec.disabled' },
  { name: 'Version', type: 'string', jsonPath: '.spec.version' },
  { name: 'Vendor', type: 'string', jsonPath: '.spec.vendor' },
  { name: 'Framework', type: 'string', jsonPath: '.spec.modelFramework.name' },
  { name: 'FrameworkVersion', type: 'string', jsonPath: '.spec.modelFramework.version' },
  { name: 'ModelFormat', type: 'string', jsonPath: '.spec.modelFormat.name' },
  { name: 'Architecture', type: 'string', jsonPath: '.spec.modelArchitecture' },
  { name: 'Capabilities', type: 'string', jsonPath: '.spec.modelCapabilities[*]' },
  { name: 'Size', type: 'string', jsonPath: '.spec.modelParameterSize' },
  { name: 'CompartmentID', type: 'string', jsonPath: '.spec.compartmentID' },
  { name: 'Ready', type: 'string', jsonPath: '.status.state' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
];

/** The namespaced model. */
export const baseModel: CustomResourceDefinition = defineResource({
  kind: 'BaseModel',
  plural: 'basemodels',
  scope: 'Namespaced',
  description: 'A model of one namespace.',
  spec,
  status,
  specHint: 'write spec.storage.storageUri',
  columns,
});

/** The model of a whole cluster. */
export const clusterBaseModel: CustomResourceDefinition = defineResource({
  kind: 'ClusterBaseModel',
  plural: 'clusterbasemodels',
  scope: 'Cluster',
  description: 'A model of the whole cluster.',
  spec,
  status,
  specHint: 'write spec.storage.storageUri',
  columns,
});
