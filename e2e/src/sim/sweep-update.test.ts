import { sweeping } from './sweeping.js';

sweeping(['surge', 'retarget', 'regret', 'bad-image', 'pause', 'delete-in-surge']);
