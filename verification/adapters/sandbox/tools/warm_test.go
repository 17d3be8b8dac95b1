// Compiled once, so that what these packages need is found compiled.
package warm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var _ = []any{
	bytes.Equal, context.Background, json.Marshal, errors.New, fmt.Sprint, io.ReadAll, os.Exit,
	filepath.Join, reflect.DeepEqual, sort.Ints, strconv.Itoa, strings.Join, &sync.Mutex{}, time.Now,
}

func TestNothing(t *testing.T) {}
