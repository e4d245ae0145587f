module omenative.test/cluster/pause

go 1.21
